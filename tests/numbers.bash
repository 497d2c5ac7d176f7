# What tests of the command in tests/cli and tests/mpi share: arrays in NPY files.

# noise BYTES: makes the file noise, of random bytes below 64: small numbers, in floats too.
noise() {
  head -c "$1" /dev/urandom | tr '\000-\377' '\000-\077\000-\077\000-\077\000-\077' >noise
}

# numbers DESCR BYTES COUNT [SHAPE [ORDER]]: an NPY file, of one dimension if no shape is given, of
# the bytes of noise, which repeat.
numbers() {
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
    "{'descr': '$1', 'fortran_order': ${5:-False}, 'shape': (${4:-$3,}), }"
  while :; do cat noise || break; done 2>/dev/null | head -c $(($2 * $3))
}
