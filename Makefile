# SPDX-License-Identifier: Apache-2.0
# libprofsql: `make run` installs what is missing, builds, and queries a real profile; `make test` runs the tests.
# Everything built goes to build/.

MAKEFLAGS += --jobs=$(shell nproc)
CC ?= cc
PREFIX ?= /usr/local
BUILD := build
VERSION := $(shell sed -n 's/^\#define PROFSQL_VERSION "\(.*\)"/\1/p' ext/prof.h)
COMMIT := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
SAMPLE ?= tests/data/tf_fit_input_bound
quoted = '$(subst ','\'',$(1))'
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# Warnings are errors with WERROR=1, as in .ci/run, but not by default: other compilers may have new ones.
WARN := -Wall -Wextra -Wpedantic -Wno-overlength-strings $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
# Headers of protobuf-c count as system headers, so that they give no warnings.
GENERATED_HEADERS := -isystem $(BUILD)
# Fused multiply-add, which arm64 has, would change the last digit of sums.
ALL_CFLAGS = -std=c11 $(CPPFLAGS) $(CFLAGS) $(WARN) -fPIC -fvisibility=hidden -pthread $(GENERATED_HEADERS) -MMD -MP \
  -ffile-prefix-map=$(CURDIR)=. -ffp-contract=off
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS)
LIBS := -lprotobuf-c -lz -lm -ldl -pthread

# The capture library and its command are separate; the extension contains only their reader of spools.
LIVE_SOURCES := loader/capture/record.c loader/capture/spool_read.c
CAPTURE_SOURCES := $(filter-out loader/capture/command.c loader/capture/summary.c,$(wildcard loader/capture/*.c)) \
  loader/base/base.c loader/base/hash_table.c loader/format/wire.c
CAPTURE_OBJECTS := $(CAPTURE_SOURCES:%.c=$(BUILD)/shared/%.o)
# The command has its own files and those of remote profiling.
CAPTURE_COMMAND_SOURCES := loader/capture/command.c loader/capture/summary.c loader/base/ask_sql.c loader/base/beside.c \
  loader/base/option_help.c $(wildcard loader/remote/*.c loader/remote/command/*.c)
CAPTURE_COMMAND_OBJECTS := $(CAPTURE_COMMAND_SOURCES:%.c=$(BUILD)/shared/%.o) $(BUILD)/shared/schema/profiler_service.pb-c.o
SOURCES := $(filter-out loader/capture/% loader/remote/command/%,$(wildcard ext/*.c loader/*.c loader/*/*.c loader/*/*/*.c)) $(LIVE_SOURCES)
COMMAND_SOURCES := $(wildcard command/*.c command/report/*.c)
COMMAND_OBJECTS := $(COMMAND_SOURCES:%.c=$(BUILD)/shared/%.o) $(BUILD)/shared/report/files.o
SCHEMA := $(notdir $(basename $(wildcard schema/*.proto)))
MESSAGES := $(SCHEMA:%=$(BUILD)/schema/%.pb-c.c)
GENERATED := $(BUILD)/queries.c $(BUILD)/report/files.c $(BUILD)/report/script_hash.h $(MESSAGES)
NAMES := $(SOURCES:%.c=%) queries $(SCHEMA:%=schema/%.pb-c)
OBJECTS := $(NAMES:%=$(BUILD)/shared/%.o)
# Only ext/ uses SQLite, through a table of functions in a loaded library and directly in a linked one.
CORE_OBJECTS := $(patsubst %,$(BUILD)/core/%.o,$(filter ext/%,$(NAMES))) \
  $(patsubst %,$(BUILD)/shared/%.o,$(filter-out ext/%,$(NAMES)))
CHECKED_OBJECTS := $(NAMES:%=$(BUILD)/checked/%.o)
FUZZED_OBJECTS := $(NAMES:%=$(BUILD)/fuzzed/%.o)
COUNTED_OBJECTS := $(NAMES:%=$(BUILD)/counted/%.o)
RACED_OBJECTS := $(NAMES:%=$(BUILD)/raced/%.o)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# Debian packages that the build and the tests need. libcurl is loaded only when needed; tests need it, and
# compare its header with loader/remote/curl.h.
PACKAGES := gcc libc6-dev make sqlite3 libsqlite3-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler python3 \
  libcurl4-openssl-dev
LINT_PACKAGES := clang-format cppcheck clang-tidy
FUZZ_PACKAGES := clang libclang-rt-dev

# `make V=1` shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $(1) $@)

.PHONY: FORCE all loadable static capture command wheel run test docs bench coverage fuzz threads lint format install uninstall clean setup parity
all: loadable capture command

loadable: $(BUILD)/libprofsql.so
capture: $(BUILD)/libprofsql_capture.so $(BUILD)/profsql-capture
static: $(BUILD)/libprofsql.a
command: $(BUILD)/profsql

$(BUILD)/queries.c: queries/compile.awk queries $(wildcard queries/*.sql)
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -f queries/compile.awk $(sort $(wildcard queries/*.sql)) > $@.part && mv $@.part $@

# The files of a report's page, as C; a browser runs only the script in them.
PAGE := command/report/page.css command/report/page.js
$(BUILD)/report/files.c: command/report/embed.awk $(PAGE)
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)awk -f $< $(PAGE) > $@.part && mv $@.part $@
$(BUILD)/report/script_hash.h: command/report/hash.awk command/report/page.js
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)sha256sum command/report/page.js | awk -f $< > $@.part && mv $@.part $@
$(BUILD)/shared/command/report/page.o: $(BUILD)/report/script_hash.h

$(BUILD)/schema/%.pb-c.c: schema/%.proto schema/compact.awk | setup
	@mkdir -p $(@D)/whole
	$(call say,GEN)
	$(Q)protoc-c --proto_path=schema --c_out=$(@D)/whole $<
	$(Q)for f in $*.pb-c.h $*.pb-c.c; do awk -f schema/compact.awk $(@D)/whole/$$f > $(@D)/$$f.part && mv $(@D)/$$f.part $(@D)/$$f || exit; done

# A program that starts during a build finds either the old file or the new one.
replace = && mv $@.part $@

# Arrow arrays may outlive the connection that loaded the library: it stays in memory.
# An entry point that fails while statements run cannot undo all registrations, so the code stays mapped.
EXPORTS := -Wl,--version-script=ext/exports.map,-z,nodelete
$(BUILD)/libprofsql.so: $(OBJECTS) ext/exports.map
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@.part $(CFLAGS) $(LDFLAGS) $(OBJECTS) $(LIBS) $(EXPORTS) -Wl,-soname,$(@F) $(replace)
# For the Python package: stripped, with protobuf-c (and SQLite, for the command) linked statically if possible.
archive = $(or $(wildcard $(shell $(CC) -print-file-name=lib$(1).a)),-l$(1))
PROTOBUF_C = $(call archive,protobuf-c)
SQLITE = $(call archive,sqlite3)
$(BUILD)/python/libprofsql.so: $(OBJECTS) ext/exports.map
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -shared -s -o $@ $(CFLAGS) $(LDFLAGS) $(OBJECTS) $(PROTOBUF_C) -lz -lm -pthread $(EXPORTS)
$(BUILD)/python/profsql: $(COMMAND_OBJECTS) $(BUILD)/libprofsql.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -s -o $@ $(CFLAGS) $(LDFLAGS) $^ $(SQLITE) $(PROTOBUF_C) -lz -lm -pthread -ldl
# Links no part of CUDA: the capture looks for CUPTI when a program uses its GPU.
$(BUILD)/libprofsql_capture.so: $(CAPTURE_OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@.part $(CFLAGS) $(LDFLAGS) $^ -ldl -lm -pthread -Wl,-z,nodelete,-soname,$(@F) $(replace)
$(BUILD)/profsql-capture: $(CAPTURE_COMMAND_OBJECTS) $(CAPTURE_OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) -o $@.part $(CFLAGS) $(LDFLAGS) $^ $(PROTOBUF_C) -ldl -lm -pthread $(replace)
$(BUILD)/shared/loader/capture/command.o: ALL_CFLAGS += -DCAPTURE_VERSION='"$(VERSION)"'
$(BUILD)/profsql: $(COMMAND_OBJECTS) $(BUILD)/libprofsql.a
	$(call say,LINK)
	$(Q)$(CC) -o $@.part $(CFLAGS) $(LDFLAGS) $^ -lsqlite3 $(LIBS) $(replace)
$(BUILD)/shared/command/main.o: ALL_CFLAGS += -DPROFSQL_COMMAND_VERSION='"$(VERSION)"'
$(BUILD)/libprofsql.a: $(CORE_OBJECTS)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%/ext/admin.o: ALL_CFLAGS += -DPROFSQL_COMMIT='"$(COMMIT)"'

# protobuf-c declares structs without members.
$(foreach v,shared checked raced fuzzed counted,$(eval $(BUILD)/$(v)/schema/%.o: WARN += -Wno-pedantic))

# Where the commands find the libraries, relative to PREFIX/bin, so that an installed tree can be moved.
LIBDIR ?= $(PREFIX)/lib
LIBDIR_FROM_BIN := $(patsubst $(abspath $(PREFIX))/%,../%,$(abspath $(LIBDIR)))
$(BUILD)/libdir: FORCE
	@mkdir -p $(@D)
	@echo $(call quoted,$(LIBDIR_FROM_BIN)) | cmp -s - $@ || echo $(call quoted,$(LIBDIR_FROM_BIN)) > $@
$(BUILD)/shared/loader/base/beside.o: ALL_CFLAGS += -DPROFSQL_LIBDIR='"$(LIBDIR_FROM_BIN)"'
$(BUILD)/shared/loader/base/beside.o: $(BUILD)/libdir

# Changed flags recompile everything.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo $(call quoted,$(FLAGS)) | cmp -s - $@ || echo $(call quoted,$(FLAGS)) > $@
FORCE:

define compile
$(BUILD)/$(1)/%.o: %.c $(MESSAGES) $(BUILD)/flags | setup
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $(2) -c -o $$@ $$<
$(BUILD)/$(1)/%.o: $(BUILD)/%.c $(MESSAGES) $(BUILD)/flags | setup
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $(2) -c -o $$@ $$<
endef
$(eval $(call compile,shared,))
$(eval $(call compile,core,-DSQLITE_CORE))
# Reports of the sanitizers name functions and lines; more debug information takes a quarter of the time to compile.
$(eval $(call compile,checked,$(SANITIZE) -O1 -g1 -DSQLITE_CORE))
$(eval $(call compile,raced,-fsanitize=thread -O1 -DSQLITE_CORE))
# Each basic block calls a function, which tests/scaling/work.c defines.
$(eval $(call compile,counted,-fsanitize-coverage=trace-pc -O1 -g0))
$(eval $(call compile,fuzzed,-fsanitize=fuzzer-no-link $(SANITIZE) -O1 -DSQLITE_CORE))

# Installs missing packages; uses neither apt nor the network if none is missing.
install_missing = missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
  if [ -n "$$missing" ]; then echo "installing:" $$missing; \
    $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; fi
has_dpkg = command -v dpkg-query >/dev/null && command -v apt-get >/dev/null

# What is missing for the build, and for the tests if requested. These targets install it on Debian; `make` and
# `make install` name it.
INSTALLING := $(filter run test lint docs bench parity coverage fuzz threads wheel,$(MAKECMDGOALS))
HEADERS := sqlite3ext.h zlib.h protobuf-c/protobuf-c.h
PROGRAMS = $(firstword $(CC)) protoc-c awk $(if $(filter test,$(MAKECMDGOALS)),python3 sqlite3)
what_is_missing = for p in $(PROGRAMS); do command -v $$p >/dev/null || echo $$p; done; \
  for h in $(HEADERS); do echo "\#include <$$h>" | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 || echo $$h; done
setup:
	@missing=$$($(what_is_missing)); if [ -z "$$missing" ]; then exit 0; fi; \
	if [ -n "$(INSTALLING)" ] && $(has_dpkg); then $(call install_missing,$(PACKAGES)); exit; fi; \
	echo "missing:" $$missing >&2; \
	if $(has_dpkg); then echo "install it with: $(if $(SUDO),$(SUDO) )apt-get install $(PACKAGES)" >&2; \
	else echo "install SQLite 3.38, zlib and protobuf-c with their headers, and protoc-c" >&2; fi; exit 1

run: loadable command
	@$(BUILD)/profsql $(call quoted,$(SAMPLE))

UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
test: loadable capture command $(BUILD)/oom $(BUILD)/prefix $(BUILD)/mutants $(BUILD)/mutant_sums $(UNITS) $(BUILD)/counted/libprofsql.so $(BUILD)/counted/work.so
	@tests/run

$(BUILD)/checked.a: $(CHECKED_OBJECTS)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/checked.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=c11 -g -O1 $(SANITIZE) $(WARN) $(GENERATED_HEADERS) -o $@ $^ -lsqlite3 $(LIBS)
$(BUILD)/oom: tests/oom.c $(BUILD)/libprofsql.so
	$(call say,LINK)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(WARN) -o $@ $< -lsqlite3 -pthread -ldl
$(BUILD)/counted/libprofsql.so: $(COUNTED_OBJECTS) ext/exports.map
	$(call say,LINK)
	$(Q)$(CC) -shared -o $@ $(CFLAGS) $(LDFLAGS) $(COUNTED_OBJECTS) $(LIBS) $(EXPORTS)
$(BUILD)/counted/work.so: tests/scaling/work.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=c11 -shared -fPIC -O2 $(WARN) -o $@ $<
$(BUILD)/mutants $(BUILD)/mutant_sums: tests/every_table.h tests/mutant.h tests/mutations.h tests/message_tree.h
$(BUILD)/mutant_sums: tests/kept_mutants/sums.c
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=c11 $(CFLAGS) $(WARN) -o $@ $(filter %.c,$^) -lsqlite3
$(BUILD)/prefix: tests/message_tree.h
$(BUILD)/prefix $(BUILD)/mutants: $(BUILD)/%: tests/%.c $(BUILD)/checked.a
	$(call say,LINK)
	$(Q)$(CC) -std=c11 -g -O1 $(SANITIZE) $(WARN) -o $@ $(filter-out %.h,$^) -lsqlite3 $(LIBS) -ldl

# build/wheels/*.whl, with the manylinux tag that auditwheel finds. PYTHON needs the packages build and auditwheel.
# For older systems and for aarch64: ext/python/manylinux.
PYTHON ?= python3
wheel:
	@rm -rf $(BUILD)/wheels $(BUILD)/python
	+$(Q)export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 315532800)} && \
	  $(PYTHON) -m build --wheel --outdir $(BUILD)/wheels/linux . && \
	  $(PYTHON) -m auditwheel repair --wheel-dir $(BUILD)/wheels $(BUILD)/wheels/linux/*.whl
	@ls -l $(BUILD)/wheels/*.whl

# Pages of docs/ and other files that are generated from the extension's documentation.
docs: loadable capture
	docs/generate
	ext/python/stubs
	command/generate

# AGAINST=COMMIT compares this build with that of an older commit instead.
bench: loadable
ifdef AGAINST
	tests/bench/against $(AGAINST)
else
	tests/bench/run
	tests/bench/op_metrics --rounds 1 --sizes 200M,1G
endif

# Compares with the independent reader and XProf's answers; SEEDS=N also with XProf (ORACLE_PYTHON) on N new generated profiles.
parity: loadable
	tests/parity/run_all $(if $(SEEDS),--seeds $(SEEDS)) $(if $(FIRST),--first $(FIRST))

# Lines and branches that the quick suites cover, by file; SUITES="oom hostile" runs others.
coverage: setup
	+tests/coverage $(SUITES)

# Fuzzes a reader (FUZZ=xspace or hlo) for FUZZ_SECONDS; the corpus is kept. It also starts from the small profiles of tests/data,
# and uses a dictionary of the words in the sources.
FUZZ ?= xspace
FUZZ_SECONDS ?= 600
FUZZ_SUFFIX = $(if $(filter hlo,$(FUZZ)),hlo*.pb,xplane.pb)
$(BUILD)/fuzzed/%.o: private CC := clang
$(BUILD)/fuzz_%: tests/fuzz/%.c $(FUZZED_OBJECTS)
	clang -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DSQLITE_CORE -I$(BUILD) -pthread -o $@ $(filter-out %.h,$^) -lsqlite3 $(LIBS)
$(BUILD)/fuzz_xspace: tests/mutations.h tests/message_tree.h
.SECONDARY: $(FUZZED_OBJECTS)
fuzz:
	@$(call install_missing,$(PACKAGES) $(FUZZ_PACKAGES))
	@$(MAKE) --no-print-directory $(BUILD)/fuzz_$(FUZZ)
	@mkdir -p $(BUILD)/fuzz/$(FUZZ) $(BUILD)/fuzz/seeds_$(FUZZ)
	@for f in $$(find tests/data -name '*.$(FUZZ_SUFFIX)' -size -64k); do cp $$f $(BUILD)/fuzz/seeds_$(FUZZ)/$$(echo $$f | tr / _); done
	@grep -ohE '"[^"\\%]{2,40}"' ext/*.c loader/*.c loader/*/*.[ch] loader/*/*/*.[ch] | sort -u > $(BUILD)/fuzz/words
	$(BUILD)/fuzz_$(FUZZ) -dict=$(BUILD)/fuzz/words -max_total_time=$(FUZZ_SECONDS) -max_len=65536 -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/$(FUZZ) tests/fuzz/corpus/$(FUZZ) $(BUILD)/fuzz/seeds_$(FUZZ)

# Threads that query shared runs, under the thread sanitizer, for THREAD_SECONDS.
THREAD_SECONDS ?= 60
$(BUILD)/threads: tests/threads.c $(RACED_OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) -std=c11 -g -O1 -fsanitize=thread $(WARN) $(GENERATED_HEADERS) -o $@ $^ -lsqlite3 $(LIBS)
.SECONDARY: $(RACED_OBJECTS)
threads: $(BUILD)/threads
	PROFSQL_THREADS=4 TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $(BUILD)/threads $(THREAD_SECONDS) 8 tests/data/gpu_train_38 \
	  tests/data/tpu_train_54 tests/data/jax_two_hosts tests/data/tf_fit_input_bound tests/data/tf_xla_jit

C_FILES := $(wildcard ext/*.[ch] command/*.[ch] command/*/*.[ch] loader/*.[ch] loader/*/*.[ch] loader/*/*/*.[ch] tests/*.[ch] tests/*/*.[ch])
SQL_FILES := $(wildcard queries/*.sql tests/*/*.sql)
SCRIPTS := command docs ext/python setup.py tests
# Analyses of stats whose payload is a protobuf message.
READS_PROTOBUF = (communication/dcn|device/devices|ops/op_metadata|ops/tpu_ops)
# clang-tidy: likely mistakes, without the checks that many correct lines fail.
NOT_TIDY := easily-swappable-parameters narrowing-conversions implicit-widening-of-multiplication-result reserved-identifier \
  branch-clone assignment-in-if-condition macro-parentheses sizeof-expression suspicious-string-compare \
  not-null-terminated-result integer-division misplaced-widening-cast signal-handler
empty :=
TIDY := -*,bugprone-*,$(subst $(empty) ,,$(NOT_TIDY:%=-bugprone-%,))readability-misleading-indentation,readability-redundant-control-flow,readability-duplicate-include
TIDY_FLAGS = -std=c11 -D_GNU_SOURCE -DSQLITE_CORE -DPROFSQL_COMMAND_VERSION=\"\" $(GENERATED_HEADERS)
# cppcheck's constStatement reports the value of a statement expression as unused; -Wunused-value does not.
lint: $(GENERATED)
	@if $(has_dpkg); then $(call install_missing,$(LINT_PACKAGES)); fi
	@! grep -L 'SPDX-License-Identifier: Apache-2.0' $(C_FILES) queries/*.sql schema/*.proto | sed 's/$$/: no SPDX line/' | grep .
	@! awk 'length > 100 { print FILENAME ":" FNR ": longer than 100 columns" }' $(C_FILES) $(SQL_FILES) \
	  $$(grep -rlI --include='*.py' -e . $(SCRIPTS)) $$(grep -rlIE '^#!.*python3' $(SCRIPTS)) | sort -u | grep .
	@! grep -lE '#include ".*format/(wire|xspace)\.h"' ext/*.[ch] loader/analysis/*/*.[ch] | grep -vxE 'loader/analysis/$(READS_PROTOBUF)\.c' | sed 's/$$/: reads the wire format; ask loader\/store/' | grep .
	@! grep -nE '(str[n]?cmp|starts_with|slice_starts)\([^;]*"(/host:|/device:|(XLA|Framework|Sparse Core) (Ops|Modules)|Steps)' ext/*.c loader/analysis/*/*.c loader/store/*.c loader/format/*.c | sed 's/$$/: compares the name of a plane or line; ask loader\/plane.h/' | grep .
	@! grep -nE '^([^"]|"[^"]*")*\breturn ([^;{}]*\)|[^;()"{}]*), [^;()"{}]*;' $(C_FILES) | sed 's/$$/: one statement in a line, no comma/' | grep .
	@! grep -nE '^ *: [^"(]* \? |\? [^":(),;]* : [^":(),;]* \? ' $(filter-out tests/%,$(C_FILES)) | sed 's/$$/: nested conditionals; write if, switch or a function/' | grep .
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	@if command -v clang-tidy >/dev/null; then \
	  printf '%s\n' $(filter-out $(BUILD)/%,$(filter %.c,$(SOURCES) $(CAPTURE_SOURCES) $(COMMAND_SOURCES) $(CAPTURE_COMMAND_SOURCES))) | sort -u | \
	    xargs -P $(shell nproc) -n 24 sh -c 'clang-tidy --quiet --warnings-as-errors="*" --checks="$(TIDY)" "$$@" -- '$(call quoted,$(TIDY_FLAGS))' 2>/dev/null' tidy; \
	elif [ -n "$(WERROR)" ]; then echo "lint: clang-tidy is missing" >&2; exit 1; \
	else echo "lint: clang-tidy is missing; its checks are left out"; fi
	@mkdir -p $(BUILD)/cppcheck
	$(Q)cppcheck --quiet -j $(shell nproc) --cppcheck-build-dir=$(BUILD)/cppcheck --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability --suppress=missingIncludeSystem --suppress=constStatement -I$(BUILD) -DSQLITE_CORE -DPROTOBUF_C_VERSION_NUMBER=1004001 $(sort $(SOURCES) $(CAPTURE_SOURCES) $(CAPTURE_COMMAND_SOURCES) $(COMMAND_SOURCES))
format:
	$(Q)clang-format -i $(C_FILES)

DEST = $(DESTDIR)$(PREFIX)
DEST_LIB = $(DESTDIR)$(LIBDIR)
COMPLETIONS := bash-completion/completions zsh/site-functions fish/vendor_completions.d
install: loadable static capture command
	install -d $(DEST)/bin $(DEST)/include $(DEST_LIB)/pkgconfig $(DEST)/share/man/man1 $(DEST)/share/man/man7 $(DEST)/share/libprofsql/queries
	install -d $(COMPLETIONS:%=$(DEST)/share/%)
	install -m 755 $(BUILD)/profsql $(DEST)/bin/profsql
	for m in profsql.1 profsql-capture.1; do sed -e 's|@VERSION@|$(VERSION)|' command/made/$$m > $(DEST)/share/man/man1/$$m || exit; done
	install -m 644 command/made/profsql.bash $(DEST)/share/bash-completion/completions/profsql
	install -m 644 command/made/_profsql $(DEST)/share/zsh/site-functions/_profsql
	install -m 644 command/made/profsql.fish $(DEST)/share/fish/vendor_completions.d/profsql.fish
	install -m 755 $(BUILD)/profsql-capture $(DEST)/bin/profsql-capture
	install -m 755 $(BUILD)/libprofsql_capture.so $(DEST_LIB)/libprofsql_capture.so
	install -m 644 loader/capture/profsql_capture.h $(DEST)/include/profsql_capture.h
	install -m 644 ext/profsql.h ext/profsql_arrow.h $(DEST)/include
	install -m 755 $(BUILD)/libprofsql.so $(DEST_LIB)/libprofsql.so
	install -m 644 $(BUILD)/libprofsql.a $(DEST_LIB)/libprofsql.a
	install -m 644 queries/*.sql $(DEST)/share/libprofsql/queries/
	sed -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' ext/libprofsql.pc.in > $(DEST_LIB)/pkgconfig/libprofsql.pc
	sed -e 's|@VERSION@|$(VERSION)|' ext/libprofsql.7.in > $(DEST)/share/man/man7/libprofsql.7
	@if [ -z "$(DESTDIR)" ]; then ldconfig 2>/dev/null || true; fi
uninstall:
	rm -f $(DEST)/bin/profsql $(DEST)/share/man/man1/profsql.1 $(DEST)/share/man/man1/profsql-capture.1 $(DEST)/share/bash-completion/completions/profsql
	rm -f $(DEST)/share/zsh/site-functions/_profsql $(DEST)/share/fish/vendor_completions.d/profsql.fish
	rm -f $(DEST)/bin/profsql-capture $(DEST_LIB)/libprofsql_capture.so $(DEST)/include/profsql_capture.h $(DEST)/include/profsql.h $(DEST)/include/profsql_arrow.h
	rm -f $(DEST_LIB)/libprofsql.so $(DEST_LIB)/libprofsql.a $(DEST_LIB)/pkgconfig/libprofsql.pc $(DEST)/share/man/man7/libprofsql.7
	rm -rf $(DEST)/share/libprofsql
clean:
	rm -rf $(BUILD)

-include $(CAPTURE_OBJECTS:.o=.d) $(COMMAND_OBJECTS:.o=.d) $(CAPTURE_COMMAND_OBJECTS:.o=.d) $(OBJECTS:.o=.d) $(CORE_OBJECTS:.o=.d) $(CHECKED_OBJECTS:.o=.d) $(FUZZED_OBJECTS:.o=.d) $(RACED_OBJECTS:.o=.d) $(COUNTED_OBJECTS:.o=.d)
