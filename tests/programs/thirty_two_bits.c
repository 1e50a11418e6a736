/* A 32-bit program without a library: opens, reads and closes /dev/zero and ends with status 7.
 * Build with -m32 -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie. */
static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}

void _start(void) {
  char buffer[100];
  long fd = call(5, (long)"/dev/zero", 0, 0);
  long got = call(3, fd, (long)buffer, sizeof buffer);
  call(6, fd, 0, 0);
  call(1, got == sizeof buffer ? 7 : 1, 0, 0);
  for (;;) continue;
}
