#include <math.h>
#include <stdio.h>
int main(void) {
  printf("#define STEPS 64\nstatic const double table[STEPS] = {\n");
  for (int i = 0; i < 64; i++) printf("  %.9f,\n", i / 64.0 * 6.283185307179586);
  printf("};\n");
  return 0;
}
