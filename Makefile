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

# GPU code takes minutes a target: what is measured here is built for the GPU that is here, if any,
# and without the simulator. `make` adds the simulator and all targets to what is built.
here = -DRUNG_SIM=OFF $(if $(shell nvidia-smi -L 2>/dev/null),\
  -DRUNG_CUDA=AUTO -DRUNG_CUDA_ARCHITECTURES=native,-DRUNG_CUDA=OFF)
whole = -DRUNG_SIM=AUTO -DRUNG_CUDA=AUTO "-DRUNG_CUDA_ARCHITECTURES=75-real;80-real;90-real;90-virtual"

.PHONY: all tour test check fuzz bench python install deb format clean help

all:
	@$(call build,$(call uses_float,$(or $(USES_FLOAT),1)) $(whole))

tour:
	@tools/needs tour
	@echo 'make tour: builds (two minutes on 2 cores), then verifies and times every rung for half a minute'
	@$(call build,$(call uses_float,$(USES_FLOAT)) $(here))
	@$(BUILD)/rung tour
	@echo 'The command is $(BUILD)/rung; `$(BUILD)/rung help` lists what it does. `make` adds the simulator'
	@echo '(`rung explain reduce`, `rung verify --device sim`) and code for other GPUs; `make test` runs the'
	@echo 'tests; docs/METHOD.md says how the times were taken.'

test:
	@tools/needs test
	@JOBS=$(JOBS) tools/check plain
	@echo 'The logs are in build/check. Next: `make tour` verifies and times every rung on this machine,'
	@echo '`make check` adds longer tests, sanitizers, fuzzing and analyses; docs/ADDING_A_RUNG.md shows'
	@echo 'how a rung is added.'

check:
	@tools/needs check
	@JOBS=$(JOBS) tools/check

fuzz:
	@cmake --preset fuzz -DRUNG_FUZZ_SECONDS=$$(($(MINUTES) * 60))
	@cmake --build --preset fuzz --parallel $(JOBS)
	@ctest --preset fuzz -j $(JOBS)

bench:
	@tools/needs tour
	@$(call build,$(call uses_float,$(USES_FLOAT)) $(here))
	$(BUILD)/rung bench $(OP) -o $(BENCH_OUT)

python:
	@tools/needs python
	@$(call build,$(call uses_float,$(USES_FLOAT)) $(whole) -DRUNG_PYTHON=ON)
	@echo 'PYTHONPATH=$(BUILD)/python python3'

install:
	@$(call build,$(call uses_float,$(USES_FLOAT)) $(whole))
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD)

# A build of its own, for another prefix; the packages lie in build/packages.
deb:
	@tools/needs check
	@MAKEFLAGS=--no-print-directory cmake --preset release -B build/deb -DCMAKE_INSTALL_PREFIX=/usr $(whole) $(CMAKE_ARGS)
	@MAKEFLAGS=--no-print-directory cmake --build build/deb --parallel $(JOBS)
	@cd build/deb && cpack -G DEB -B $(CURDIR)/build/packages
	@rm -rf build/packages/_CPack_Packages && ls build/packages

format:
	@tools/sources | xargs clang-format -i

clean:
	rm -rf build

help:
	@echo 'make [all]     build the library, the command and the simulator in $(BUILD), for all GPUs'
	@echo '                 USES_FLOAT=0|1   default type of `rung radiator`: double, float'
	@echo '                 CMAKE_ARGS=...   more options, such as -DRUNG_CUDA=OFF'
	@echo 'make tour      build, then verify and time every rung on this machine'
	@echo 'make test      build, and the tests, without sanitizers, in three to six minutes'
	@echo 'make check     all builds, all tests, sanitizers, format, static analysis'
	@echo 'make fuzz      fuzz the readers and the calls: MINUTES=1 each (clang with libFuzzer)'
	@echo 'make bench     time one operation: OP=stencil BENCH_OUT=build/bench-stencil.json'
	@echo 'make python    the package rung for Python in $(BUILD)/python'
	@echo 'make install   PREFIX=/usr/local DESTDIR='
	@echo 'make deb       Debian packages in build/packages'
	@echo 'make format    clang-format every source'
	@echo 'make clean     remove build/'
	@echo
	@echo 'tour, test, check, bench and python install missing Debian packages where they may;'
	@echo 'RUNG_NO_INSTALL=1 turns that off. JOBS=N: how many compilers at once.'
