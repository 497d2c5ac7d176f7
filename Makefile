# The front door. `make help` lists what it opens.

BUILD = build/release
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
OP ?= stencil
BENCH_OUT ?= build/bench-$(OP).json
MINUTES ?= 1
CMAKE_ARGS ?=

# USES_FLOAT=1 or 0: `rung radiator` works in float (the default) or in double. `all` without it
# goes back to float; the other targets keep what was built last.
ifneq ($(filter-out 0 1,$(USES_FLOAT)),)
$(error USES_FLOAT is "$(USES_FLOAT)": expected: 1 (float) or 0 (double))
endif
uses_float = $(if $(1),-DRUNG_USES_FLOAT=$(1))

# Nothing of this make's own flags reaches the one that CMake runs.
build = MAKEFLAGS=--no-print-directory cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(1) $(CMAKE_ARGS) && \
        MAKEFLAGS=--no-print-directory cmake --build $(BUILD) --parallel $(JOBS)

.PHONY: all tour test check fuzz bench python install format clean help

all:
	@$(call build,$(call uses_float,$(or $(USES_FLOAT),1)))

tour:
	@tools/needs tour
	@$(call build,$(call uses_float,$(USES_FLOAT)))
	@$(BUILD)/rung tour

test:
	@tools/needs test
	@JOBS=$(JOBS) tools/check plain
	@echo 'The logs are in build/check. Next: `make tour` verifies and times every rung on this machine,'
	@echo '`make check` adds sanitizers, fuzzing and analyses, and docs/ADDING_A_RUNG.md adds a rung.'

check:
	@tools/needs check
	@JOBS=$(JOBS) tools/check

fuzz:
	@cmake --preset fuzz -DRUNG_FUZZ_SECONDS=$$(($(MINUTES) * 60))
	@cmake --build --preset fuzz --parallel $(JOBS)
	@ctest --preset fuzz -j $(JOBS)

bench:
	@tools/needs tour
	@$(call build,$(call uses_float,$(USES_FLOAT)))
	$(BUILD)/rung bench $(OP) -o $(BENCH_OUT)

python:
	@tools/needs python
	@$(call build,$(call uses_float,$(USES_FLOAT)) -DRUNG_PYTHON=ON)
	@echo 'PYTHONPATH=$(BUILD)/python python3'

install:
	@$(call build,$(call uses_float,$(USES_FLOAT)))
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD)

format:
	@tools/sources | xargs clang-format -i

clean:
	rm -rf build

help:
	@echo 'make [all]     build the library and the command in $(BUILD)'
	@echo '                 USES_FLOAT=0|1   default type of `rung radiator`: double, float'
	@echo '                 CMAKE_ARGS=...   more options, such as -DRUNG_CUDA=OFF'
	@echo 'make tour      build, then verify and time every rung on this machine'
	@echo 'make test      build, and all tests that need no sanitizer'
	@echo 'make check     all builds, all tests, sanitizers, format, static analysis'
	@echo 'make fuzz      fuzz the readers and the calls: MINUTES=1 each (clang with libFuzzer)'
	@echo 'make bench     time one operation: OP=stencil BENCH_OUT=build/bench-stencil.json'
	@echo 'make python    the package rung for Python in $(BUILD)/python'
	@echo 'make install   PREFIX=/usr/local DESTDIR='
	@echo 'make format    clang-format every source'
	@echo 'make clean     remove build/'
	@echo
.PHONY: all tour test check fuzz bench python install format clean help
	@echo 'RUNG_NO_INSTALL=1 turns that off. JOBS=N: how many compilers at once.'
