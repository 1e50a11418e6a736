/* A 32-bit program without a library: opens, reads, writes and exits through the old gate of the kernel.
 * cc -m32 -nostdlib -static -ffreestanding -fno-pie -no-pie -fno-stack-protector */
static int call(int number, int a, int b, int c) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}

void _start(void) {
  static char text[64];
  static const char name[] = "/etc/passwd", made[] = "made", missing[] = "/no/such/file";
  int file = call(5, (int)name, 0, 0);          /* open */
  int length = call(3, file, (int)text, 60);    /* read */
  int copy = call(5, (int)made, 0102, 0644);    /* open, O_CREAT | O_RDWR */
  int written = call(4, copy, (int)text, length); /* write */
  int moved = call(19, copy, 7, 0);             /* lseek */
  int error = call(5, (int)missing, 0, 0);
  int child = call(2, 0, 0, 0);                 /* fork */
  if (child == 0) call(1, 3, 0, 0);             /* exit */
  int status = 0;
  call(7, child, (int)&status, 0);              /* waitpid */
  int right = length == 60 && written == 60 && moved == 7 && error == -2 && status == 0x300;
  call(4, 1, (int)(right ? "right\n" : "wrong\n"), 6);
  call(1, right ? 12 : 13, 0, 0);
}
