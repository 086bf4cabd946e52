package keys

import (
	"reflect"
	"runtime"

	"swapkeep/registers"
)

// What libraries and the compiler leave on the stack and in registers cannot be
// wiped by name. Whoever handles secrets therefore does it on a stack of its own,
// which is overwritten before it is given back, and so are the registers and where
// a signal has saved them.
const (
	stackHeld  = 20 << 10 // in use meanwhile: a stack of which less than a fourth is used may be moved, and the old one is not wiped
	stackBelow = 36 << 10 // more than any call here needs; wiped
)

// shielded runs f beside its caller, who waits for it. A panic comes through.
func shielded[T any](f func() (T, error)) (v T, err error) {
	done := make(chan any)
	go func() {
		runtime.LockOSThread()
		defer func() {
			p := recover()
			registers.Clear()
			registers.OverwriteSaved()
			runtime.UnlockOSThread()
			done <- p
		}()
		holdStack(func() {}) // now the stack has its size
		holdStack(func() { v, err = f() })
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	return v, err
}

// holdStack runs f and then wipes the stack below.
//
//go:noinline
func holdStack(f func()) {
	var held [stackHeld]byte
	defer wipeBelow()
	f()
	touch(held[:])
}

//go:noinline
func wipeBelow() {
	var below [stackBelow]byte
	touch(below[:])
}

//go:noinline
func touch(b []byte) { clear(b) }

// wipe zeroes what a library's value points to: the state of a hash or cipher,
// for which there is no method. A state that is not a pointer stays; a test shows
// that none of those used here is.
func wipe(state any) {
	if v := reflect.ValueOf(state); v.Kind() == reflect.Pointer && v.Elem().CanSet() {
		v.Elem().SetZero()
	}
}
