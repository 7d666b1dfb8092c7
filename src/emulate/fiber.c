/* fiber.c - from one stack to another. swapcontext asks the kernel for the signal mask at each
 * switch; a warp switches 32 times an instruction, so x86-64 has a switch of its own. */
#include <stdlib.h>

#include "emulate/machine.h"

#if defined(__x86_64__)

/* What a function must preserve goes on the stack, then the stacks are exchanged. Rounding modes
 * are the same for all fibers. */
__asm__(".text\n"
        ".globl tcgemm_fiber_switch\n"
        ".hidden tcgemm_fiber_switch\n"
        ".type tcgemm_fiber_switch, @function\n"
        "tcgemm_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size tcgemm_fiber_switch, . - tcgemm_fiber_switch\n");

void *tcgemm_fiber_make(char *stack, size_t bytes, void (*start)(void)) {
    /* Six registers, the address to return to, and a word so that start finds the stack as a call
     * would leave it. */
    void **top = (void **)(stack + bytes / 16 * 16) - 8;
    for (int i = 0; i < 8; ++i)
        top[i] = NULL;
    top[6] = (void *)(uintptr_t)start;
    return top;
}

#else

#include <ucontext.h>

/* The contexts lie at the far end of each stack; main's is static. */
static ucontext_t main_place;

void tcgemm_fiber_switch(void **from, void *to) {
    if (!*from)
        *from = &main_place;
    (void)swapcontext(*from, to);
}

void *tcgemm_fiber_make(char *stack, size_t bytes, void (*start)(void)) {
    ucontext_t *context = (ucontext_t *)(void *)stack;
    (void)getcontext(context);
    context->uc_stack.ss_sp = stack + sizeof *context;
    context->uc_stack.ss_size = bytes - sizeof *context;
    context->uc_link = NULL;
    makecontext(context, start, 0);
    return context;
}

#endif
