//go:build !darwin

package doctor

import "errors"

// mountByStatfs is for macOS.
func mountByStatfs(string) (mount, error) { return mount{}, errors.ErrUnsupported }
