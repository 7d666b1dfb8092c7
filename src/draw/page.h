/* page.h - the page of a plan, its style and its script. */
#ifndef TCGEMM_DRAW_PAGE_H
#define TCGEMM_DRAW_PAGE_H

#include "base/text.h"
#include "draw/svg.h"
#include "tcgemm/tcgemm.h"

/* Writes the page: one file that loads nothing. */
void tcgemm_page_draw(const tcgemm_analysis_t *facts, tcgemm_text_t *out);

/* Writes all pictures as one <div>. */
void tcgemm_page_draw_part(const tcgemm_analysis_t *facts, const tcgemm_svg_canvas_t *canvas);

/* Writes the section where one points at a tile of D and walks along k; its script is
 * page/page.js. */
void tcgemm_page_explore(const tcgemm_analysis_t *facts, tcgemm_text_t *out);

/* Writes the analysis as a JSON object. '<' never stands in it as such, so that no text in it can
 * end an element of a page. */
void tcgemm_page_json(const tcgemm_analysis_t *facts, tcgemm_text_t *out);

/* The files of page/, as CMake embeds them. */
extern const char tcgemm_page_css[];
extern const size_t tcgemm_page_css_size;
extern const char tcgemm_page_js[];
extern const size_t tcgemm_page_js_size;

#endif
