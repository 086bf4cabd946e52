// Echohost sends every frame of native messaging back and does nothing else: the least
// that a host can be, without a runtime. It stands for the limit of a start and of a
// message's way through two pipes.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_FRAME (1 << 20)

static char frame[4 + MAX_FRAME];

// 1 = all of it was read, 0 = the other end closed before
static int fill(char *at, size_t n) {
	while (n > 0) {
		ssize_t got = read(0, at, n);
		if (got <= 0)
			return 0;
		at += got;
		n -= (size_t)got;
	}
	return 1;
}

int main(void) {
	while (fill(frame, 4)) {
		uint32_t length = *(uint32_t *)(void *)frame;
		if (length > MAX_FRAME || !fill(frame + 4, length))
			return 1;
		for (size_t done = 0; done < 4 + (size_t)length;) {
			ssize_t put = write(1, frame + done, 4 + (size_t)length - done);
			if (put <= 0)
				return 1;
			done += (size_t)put;
		}
	}
	return 0;
}
