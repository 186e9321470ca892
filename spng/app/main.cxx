#include "spng/app/program.h"

int main(int argc, char** argv) {
    return spng::app::run_program(argc, argv);
}
