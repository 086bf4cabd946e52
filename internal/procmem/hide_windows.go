package procmem

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// keptAccess is what other processes of the user may still do to this one: query whether
// it lives and whose it is, wait for its end, and terminate it.
const keptAccess = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.PROCESS_TERMINATE | windows.READ_CONTROL | windows.SYNCHRONIZE

// hide keeps this process's memory from other processes of the same
// user: they may neither read it, nor write it, nor take its handles, nor give
// themselves the right to. Administrators can. Handles that are open already,
// such as that of the process which started this one, stay as they are. What
// this process starts is not covered. It may be repeated.
func hide() error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("ask who runs this: %w", err)
	}
	// OW (owner rights): without it the owner could always change the list.
	sd, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;;%#[1]x;;;OW)(A;;%#[1]x;;;%[2]s)(A;;GA;;;SY)(A;;GA;;;BA)", keptAccess, user.User.Sid))
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	return windows.SetSecurityInfo(windows.CurrentProcess(), windows.SE_KERNEL_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
}
