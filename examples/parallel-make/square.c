#include "tables.h"
double square(int i) { return table[i % STEPS] < table[STEPS / 2] ? 1 : -1; }
