/* units.h - numbers as people read them, in the words of the library's pictures: of all that lies
 * inside the library, the tool sees this header alone. */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include "../../src/base/units.h"

#endif
