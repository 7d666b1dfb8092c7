/* page.h - the style and the script of the page, from cli/page/, as CMake embeds them. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

extern const unsigned char page_css[];
extern const size_t page_css_size;

extern const unsigned char page_js[];
extern const size_t page_js_size;

#endif
