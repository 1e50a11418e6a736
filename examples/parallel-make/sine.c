#include <math.h>
#include "tables.h"
double sine(int i) { return sin(table[i % STEPS]); }
