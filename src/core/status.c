#include "rung/rung.h"

const char *rung_status_text(rung_status status) {
  switch (status) {
    case RUNG_OK:
      return "success";
    case RUNG_BAD_ARGUMENT:
      return "bad argument";
    case RUNG_BAD_SHAPE:
      return "bad shape";
    case RUNG_BAD_DTYPE:
      return "bad element type";
    case RUNG_BAD_PLACE:
      return "memory out of reach";
    case RUNG_OVERLAP:
      return "arrays share memory";
    case RUNG_UNKNOWN_NAME:
      return "unknown name";
    case RUNG_UNSUPPORTED:
      return "not supported";
    case RUNG_NO_DEVICE:
      return "no such device";
    case RUNG_OUT_OF_MEMORY:
      return "out of memory";
    case RUNG_TOO_LARGE:
      return "too large";
    case RUNG_DEVICE_FAILED:
      return "the device failed";
    case RUNG_BAD_FILE:
      return "bad file";
    case RUNG_FILE_FAILED:
      return "file cannot be read or written";
    case RUNG_CHECK_FAILED:
      return "check failed";
    case RUNG_RANKS_FAILED:
      return "another rank failed";
  }
  return "unknown status";
}

const char *rung_version(void) {
  return RUNG_VERSION;
}
