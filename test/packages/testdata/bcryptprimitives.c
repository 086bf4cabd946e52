/* For tests only: wine 8 has no bcryptprimitives.dll, of which Go programs want
   ProcessPrng, random bytes of the system. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T n)
{
	while (n) {
		ULONG piece = n > 0x100000 ? 0x100000 : (ULONG)n;
		if (!SystemFunction036(to, piece))
			return FALSE;
		to += piece;
		n -= piece;
	}
	return TRUE;
}
