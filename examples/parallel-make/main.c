#include <stdio.h>
double sine(int), square(int);
int main(void) {
  for (int i = 0; i < 1000; i++) printf("%d %.6f %.0f\n", i, sine(i), square(i));
  return 0;
}
