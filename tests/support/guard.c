#include "support/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

guard_t guard_make(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guard_t guard;
    guard.bytes = (bytes + page) / page * page;
    void *map = mmap(NULL, guard.bytes + 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    guard.base = map;
    guard.data = guard.base + page;
    assert_int_equal(mprotect(guard.base, page, PROT_NONE), 0);
    assert_int_equal(mprotect(guard.data + guard.bytes, page, PROT_NONE), 0);
    return guard;
}

void guard_free(guard_t *guard) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)munmap(guard->base, guard->bytes + 2 * page);
}
