/* What this CPU is. describe() is on the way of every start of the command, so it reads a handful
 * of small files; facts() may look at one for every processor. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum {
  MOST_PROCESSORS = 8192,
  MOST_THREADS = 4096,
  PATH = 160,
  LINE = 256,
  CPUINFO = 4096, /* the first processor's part of /proc/cpuinfo */
  DEFAULT_CACHE = 32 << 20
};

#define CPU_FILES "/sys/devices/system/cpu/cpu%d/"

/* ---- processors ----------------------------------------------------------------------------- */

typedef struct processors {
  unsigned char member[MOST_PROCESSORS];
  int count, first;
} processors;

/* Those the process may use. */
static void find_processors(processors *all) {
  static const processors none = {.count = 0};
  *all = none;
  unsigned long bits[MOST_PROCESSORS / (8 * sizeof(unsigned long))] = {0};
  if (sched_getaffinity(0, sizeof bits, (cpu_set_t *)bits) == 0) {
    for (int p = MOST_PROCESSORS - 1; p >= 0; p--) {
      if (!CPU_ISSET_S(p, sizeof bits, (cpu_set_t *)bits)) continue;
      all->member[p] = 1;
      all->count++;
      all->first = p;
    }
  }
  if (all->count == 0) {
    all->member[0] = 1;
    all->count = 1;
  }
}

int rung_processors(void) {
  processors all;
  find_processors(&all);
  return all.count;
}

/* Takes the processors of a kernel's list ("0-3,8") out of the set; whether any was in it. */
static bool take_out(processors *set, const char *list) {
  int before = set->count;
  while (*list >= '0' && *list <= '9') {
    char *end;
    long low = strtol(list, &end, 10), high = low;
    if (*end == '-') high = strtol(end + 1, &end, 10);
    for (long p = low; p <= high && p < MOST_PROCESSORS; p++) {
      set->count -= set->member[p];
      set->member[p] = 0;
    }
    list = *end == ',' ? end + 1 : end;
  }
  return set->count < before;
}

/* How many groups the processors fall into, where the file after CPU_FILES lists the group of
 * each; 0 where there is no such file. */
static int count_groups(const processors *all, const char *file) {
  processors left = *all;
  int groups = 0;
  for (int p = all->first; p < MOST_PROCESSORS && left.count > 0; p++) {
    if (!left.member[p]) continue;
    char path[PATH], list[LINE];
    snprintf(path, sizeof path, CPU_FILES "%s", p, file);
    if (!rung_cpu_read_text(path, list, sizeof list) || !take_out(&left, list)) return groups;
    groups++;
  }
  return groups;
}

/* As many threads as processors, or what OMP_NUM_THREADS says (its first number: the outermost
 * level's). */
static int default_threads(int processors) {
  const char *text = getenv("OMP_NUM_THREADS");
  long asked = text == NULL ? 0 : strtol(text, NULL, 10);
  if (asked <= 0) asked = processors;
  return asked > MOST_THREADS ? MOST_THREADS : (int)asked;
}

static rung_isa best_isa(void) {
#if defined(__x86_64__)
  unsigned a, b, features = 0, d;
  __builtin_cpu_init();
  /* Clang's builtin knows no "f16c". */
  const bool halves = __get_cpuid(1, &a, &b, &features, &d) && (features & bit_F16C) != 0;
  bool fma = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") && halves;
  if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return RUNG_AVX512;
  if (fma) return RUNG_AVX2;
#endif
  return RUNG_BASELINE;
}

/* ---- caches --------------------------------------------------------------------------------- */

typedef struct cache {
  int level;
  char type[16];
  int64_t bytes;
  int instances; /* among the processors the process may use */
} cache;

/* The index-th cache of the first processor; false: there are no more. */
static bool read_cache(const processors *all, int index, cache *cache) {
  char path[PATH], text[LINE], file[64];
  snprintf(path, sizeof path, CPU_FILES "cache/index%d/level", all->first, index);
  if (!rung_cpu_read_text(path, text, sizeof text)) return false;
  cache->level = atoi(text);
  snprintf(path, sizeof path, CPU_FILES "cache/index%d/type", all->first, index);
  rung_cpu_read_text(path, text, sizeof text);
  snprintf(cache->type, sizeof cache->type, "%.15s", text);
  snprintf(path, sizeof path, CPU_FILES "cache/index%d/size", all->first, index);
  rung_cpu_read_text(path, text, sizeof text);
  char *unit;
  cache->bytes = strtoll(text, &unit, 10);
  cache->bytes <<= *unit == 'K' ? 10 : *unit == 'M' ? 20 : 0;
  snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", index);
  cache->instances = count_groups(all, file);
  return true;
}

/* What so many processors reach of the last-level cache that theirs names. AMD's since 2017 (family
 * 17h) name that of the whole package, where a virtual machine hides which cores share one (leaf
 * 8000001Dh): a complex of up to 16 processors has 32 MiB of it, or 96 where the package has more
 * than sixteen of 32 come to, by caches on top of one another. */
static int64_t reached(const processors *all, int64_t bytes) {
#if defined(__x86_64__)
  enum { COMPLEX = 16 };
  const int64_t plain = (int64_t)32 << 20, stacked = (int64_t)96 << 20;
  unsigned a, b, c, d;
  if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx) return bytes;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return bytes;
  const unsigned family = (a >> 8 & 0xf) + (a >> 20 & 0xff);
  if (family < 0x17) return bytes;
  if (__get_cpuid_count(0x8000001d, 0, &a, &b, &c, &d) && (a & 0x1f) != 0) return bytes;
  const int64_t complexes = (all->count + COMPLEX - 1) / COMPLEX;
  const int64_t most = complexes * (bytes > 16 * plain ? stacked : plain);
  return bytes < most ? bytes : most;
#else
  (void)all;
  return bytes;
#endif
}

/* What the processor itself says, where the system lists no caches, as in some virtual machines:
 * the nearer two are taken for one a processor. Returns how many. */
static int ask_processor(const processors *all, rung_cache *caches) {
  static const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  int count = 0;
  for (int level = 1; level <= 3; level++) {
    const int64_t bytes = sysconf(names[level - 1]);
    if (bytes <= 0) continue;
    caches[count++] = (rung_cache){level, level < 3 ? bytes * all->count : reached(all, bytes)};
  }
  return count;
}

/* The levels from the nearest on, all instances of each together, for data of every thread's may
 * lie in its own; where the system does not tell how large each is, by the processor, or a guess.
 */
static void find_caches(const processors *all, rung_device *device) {
  cache at;
  int count = 0;
  for (int i = 0; count < RUNG_CACHES && read_cache(all, i, &at); i++) {
    if (strcmp(at.type, "Instruction") == 0) continue;
    if (at.bytes <= 0) {
      memset(device->caches, 0, sizeof device->caches);
      count = 0;
      break;
    }
    device->caches[count++] =
        (rung_cache){at.level, at.bytes * (at.instances > 0 ? at.instances : 1)};
  }
  if (count == 0) count = ask_processor(all, device->caches);
  if (count == 0) device->caches[count++] = (rung_cache){3, DEFAULT_CACHE};
  device->cache_bytes = device->caches[count - 1].bytes;
  device->flush_bytes = RUNG_CPU_FLUSH_BYTES;
}

/* ---- the description ------------------------------------------------------------------------ */

/* The value of a key of /proc/cpuinfo; "" where there is none. */
static void cpuinfo_value(const char *cpuinfo, const char *key, char *value, size_t room) {
  value[0] = '\0';
  size_t length = strlen(key);
  for (const char *line = cpuinfo; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, length) != 0) continue;
    const char *at = line + length + strspn(line + length, " \t");
    if (*at != ':') continue;
    at += 1 + strspn(at + 1, " \t");
    snprintf(value, room, "%.*s", (int)strcspn(at, "\n"), at);
    return;
  }
}

static void read_name(const char *cpuinfo, char *name, size_t room) {
  cpuinfo_value(cpuinfo, "model name", name, room);
  if (name[0] != '\0') return;
  char part[32];
  struct utsname system;
  cpuinfo_value(cpuinfo, "CPU part", part, sizeof part);
  const char *machine = uname(&system) == 0 ? system.machine : "unknown";
  snprintf(name, room, "%.32s CPU%s%s", machine, part[0] != '\0' ? ", part " : "", part);
}

/* What tells one stepping from another, on x86 and on Arm. */
static void read_stepping(const char *cpuinfo, char *text, size_t room) {
  static const char *const keys[] = {"cpu family",      "model",       "stepping",     "microcode",
                                     "CPU implementer", "CPU variant", "CPU revision", "CPU part"};
  size_t used = 0;
  text[0] = '\0';
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    char value[32];
    cpuinfo_value(cpuinfo, keys[k], value, sizeof value);
    if (value[0] == '\0') continue;
    const char *last = strrchr(keys[k], ' ');
    int more = snprintf(text + used, room - used, "%s%s %s", used == 0 ? "" : ", ",
                        last != NULL ? last + 1 : keys[k], value);
    if (more < 0 || (size_t)more >= room - used) return;
    used += (size_t)more;
  }
}

static int64_t memory_total(void) {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

rung_status rung_cpu_describe(int index, rung_device *device, rung_error *error) {
  if (index != 0)
    return rung_fail(error, RUNG_NO_DEVICE, "CPU %d is not there; expected: 0", index);
  char cpuinfo[CPUINFO], stepping[72];
  processors all;
  find_processors(&all);
  rung_cpu_read_text("/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
  *device = (rung_device){.kind = RUNG_CPU, .processors = all.count, .isa = best_isa()};
  device->threads = default_threads(all.count);
  device->memory_bytes = memory_total();
  find_caches(&all, device);
  read_name(cpuinfo, device->name, sizeof device->name);
  read_stepping(cpuinfo, stepping, sizeof stepping);
  /* The name is cut before what follows it: the stepping tells more. */
  snprintf(device->identity, sizeof device->identity, "%.48s, %s, %d processors, %lld GiB",
           device->name, stepping, all.count,
           (long long)((device->memory_bytes + (1LL << 29)) >> 30));
  return RUNG_OK;
}

/* ---- the facts ------------------------------------------------------------------------------ */

typedef struct listener {
  void (*emit)(void *to, const char *key, const char *value);
  void *to;
} listener;

__attribute__((format(printf, 3, 4))) static void say(const listener *listener, const char *key,
                                                      const char *format, ...) {
  char value[LINE];
  va_list values;
  va_start(values, format);
  vsnprintf(value, sizeof value, format, values);
  va_end(values);
  listener->emit(listener->to, key, value);
}

static void say_isas(const listener *listener, rung_isa best) {
  char all[64] = "";
  for (int i = 0; i <= (int)best; i++) {
    if (i > 0) strcat(all, ", ");
    strcat(all, rung_isa_name((rung_isa)i));
  }
  say(listener, "instruction sets", "%s", all);
  rung_isa used = best, asked;
  const char *name = getenv("RUNG_ISA");
  if (name != NULL && rung_isa_named(name, &asked) && asked <= best) used = asked;
  say(listener, "instruction set used", "%s%s", rung_isa_name(used),
      used != best ? " (RUNG_ISA)" : "");
}

static void say_caches(const listener *listener, const processors *all) {
  cache at;
  rung_cache asked[RUNG_CACHES];
  const int silent = read_cache(all, 0, &at) ? 0 : ask_processor(all, asked);
  for (int i = 0; i < silent; i++) {
    char key[32], size[32];
    snprintf(key, sizeof key, "L%d cache", asked[i].level);
    rung_cpu_bytes_text(asked[i].bytes, size, sizeof size);
    say(listener, key, "%s in all (as the processor says; the system lists none)", size);
  }
  for (int i = 0; read_cache(all, i, &at); i++) {
    if (strcmp(at.type, "Instruction") == 0) continue;
    char key[32], size[32];
    snprintf(key, sizeof key, "L%d%s cache", at.level, strcmp(at.type, "Data") == 0 ? "d" : "");
    rung_cpu_bytes_text(at.bytes, size, sizeof size);
    double share = at.instances > 0 ? (double)all->count / at.instances : all->count;
    say(listener, key, "%d of %s, %.4g processor%s each", at.instances, size, share,
        share == 1 ? "" : "s");
  }
}

static void say_memory(const listener *listener) {
  char size[32];
  rung_cpu_bytes_text(memory_total(), size, sizeof size);
  say(listener, "memory", "%s", size);
  int64_t available = rung_cpu_memory_available("");
  rung_cpu_bytes_text(available, size, sizeof size);
  if (available < INT64_MAX) say(listener, "memory available", "%s", size);
  say(listener, "page size", "%ld bytes", sysconf(_SC_PAGESIZE));
  char text[LINE];
  if (rung_cpu_read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text))
    say(listener, "huge pages", "%s", text);
  if (rung_cpu_read_text("/sys/devices/system/node/online", text, sizeof text)) {
    processors nodes = {.count = MOST_PROCESSORS};
    memset(nodes.member, 1, sizeof nodes.member);
    take_out(&nodes, text);
    say(listener, "NUMA nodes", "%d", MOST_PROCESSORS - nodes.count);
  }
}

static void say_clocks(const listener *listener, const processors *all, const char *cpuinfo) {
  char path[PATH], text[LINE];
  snprintf(path, sizeof path, CPU_FILES "cpufreq/scaling_governor", all->first);
  if (rung_cpu_read_text(path, text, sizeof text)) say(listener, "governor", "%s", text);
  snprintf(path, sizeof path, CPU_FILES "cpufreq/cpuinfo_max_freq", all->first);
  if (rung_cpu_read_text(path, text, sizeof text))
    say(listener, "highest clock", "%.0f MHz", atof(text) / 1000);
  cpuinfo_value(cpuinfo, "cpu MHz", text, sizeof text);
  if (text[0] != '\0') say(listener, "clock the kernel tells", "%.0f MHz", atof(text));
  struct timespec tick;
  if (clock_getres(CLOCK_MONOTONIC_RAW, &tick) == 0)
    say(listener, "timer resolution", "%ld ns", tick.tv_nsec);
}

static void say_virtual(const listener *listener) {
#if defined(__x86_64__)
  unsigned a, b, c = 0, d;
  bool inside = __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31));
  unsigned name[4] = {0};
  if (inside) __cpuid(0x40000000, a, name[0], name[1], name[2]);
  say(listener, "virtualised", "%s%s%.12s%s", inside ? "yes" : "no", inside ? " (" : "",
      (const char *)name, inside ? ")" : "");
#else
  char text[LINE];
  if (rung_cpu_read_text("/sys/hypervisor/type", text, sizeof text))
    say(listener, "virtualised", "yes (%s)", text);
#endif
}

rung_status rung_cpu_facts(int index, void (*emit)(void *to, const char *key, const char *value),
                           void *to, rung_error *error) {
  rung_device device;
  rung_status status = rung_cpu_describe(index, &device, error);
  if (status != RUNG_OK) return status;
  listener listener = {emit, to};
  char cpuinfo[CPUINFO], stepping[72];
  processors all;
  find_processors(&all);
  rung_cpu_read_text("/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
  read_stepping(cpuinfo, stepping, sizeof stepping);
  struct utsname system;
  say(&listener, "model", "%s", device.name);
  if (stepping[0] != '\0') say(&listener, "stepping", "%s", stepping);
  int cores = count_groups(&all, "topology/thread_siblings_list");
  if (cores > 0) say(&listener, "cores", "%d", cores);
  say(&listener, "processors", "%d (that this process may use)", device.processors);
  say(&listener, "threads used", "%d", device.threads);
  say_isas(&listener, device.isa);
  say_caches(&listener, &all);
  say_memory(&listener);
  say_clocks(&listener, &all, cpuinfo);
  say_virtual(&listener);
  if (uname(&system) == 0)
    say(&listener, "kernel", "%s %s, %s", system.sysname, system.release, system.machine);
  return RUNG_OK;
}
