# cmake -DINPUT=page.css -DNAME=tcgemm_page_css -DHEADER=draw/page.h -DOUTPUT=tcgemm_page_css.c
#       -P TcgemmEmbed.cmake
# Turns a file into a C array of its bytes and their number, which HEADER declares.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n    " bytes "${bytes}") # a line for each line
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

const char ${NAME}[] = {
    ${bytes}
};
const size_t ${NAME}_size = ${size};
")
