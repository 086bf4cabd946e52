// Package zeroize erases the copies of secrets that libraries, the compiler and the
// runtime leave on the stack, in registers and on the heap.
//
// It is runtime/secret, which exists only in builds with GOEXPERIMENT=runtimesecret and
// erases only on Linux, on amd64 and arm64. The Makefile and packaging set the
// experiment. In all other builds Do erases nothing.
package zeroize
