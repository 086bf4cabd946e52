package protocol

import "time"

// Kinds of callers, as host.attach names them.
const (
	KindBrowser  = "browser"
	KindTerminal = "terminal"
)

// UnknownOrigin is the origin of a browser that did not name one.
const UnknownOrigin = "unknown"

// States of the daemon, in hello and status.
const (
	DaemonRunning  = "running"
	DaemonStopping = "stopping"
)

// SandboxBanner must be displayed wherever a sandbox is shown.
const SandboxBanner = "SANDBOX: local chains only; nothing here is real money"

// AttachParams identify the caller.
type AttachParams struct {
	Kind    string `json:"kind" of:"CallerKind" doc:"browser or terminal"`
	Origin  string `json:"origin" doc:"the extension as its browser named it, unknown, or terminal"`
	Version string `json:"version" doc:"product version of the relay or command"`

	Display *Display `json:"display,omitempty" doc:"where its user sees windows; absent: nowhere"`
}

// A Display is where a caller's user sees windows, in the variables of the caller's own
// environment. Dialogs are shown on the one told of last that answers.
type Display struct {
	X11        string `json:"x11,omitempty" doc:"DISPLAY"`
	Wayland    string `json:"wayland,omitempty" doc:"WAYLAND_DISPLAY"`
	Authority  string `json:"authority,omitempty" doc:"XAUTHORITY"`
	RuntimeDir string `json:"runtimeDir,omitempty" doc:"XDG_RUNTIME_DIR"`
	Bus        string `json:"bus,omitempty" doc:"DBUS_SESSION_BUS_ADDRESS"`
}

// DisplayOf returns the display of an environment, such as that of os.Getenv; nil = it has none, or
// one whose variables are too long for the wire.
func DisplayOf(variable func(name string) string) *Display {
	d := Display{variable("DISPLAY"), variable("WAYLAND_DISPLAY"), variable("XAUTHORITY"), variable("XDG_RUNTIME_DIR"), variable("DBUS_SESSION_BUS_ADDRESS")}
	if d.X11 == "" && d.Wayland == "" || max(len(d.X11), len(d.Wayland), len(d.Authority), len(d.RuntimeDir), len(d.Bus)) > MaxText {
		return nil
	}
	return &d
}

type AttachResult struct {
	Connection Connection `json:"connection"`
}

// A Connection is a caller as the daemon sees it.
type Connection struct {
	Kind     string    `json:"kind" of:"CallerKind" doc:"browser or terminal"`
	Origin   string    `json:"origin"`
	Version  string    `json:"version" doc:"as the relay or command said"`
	ReadOnly bool      `json:"readOnly" doc:"acting methods are refused"`
	Since    time.Time `json:"since"`
	Session  bool      `json:"session" doc:"its session is open"`
}

// A Range is a range of protocol versions, both inclusive.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// HelloParams name the versions the client speaks.
type HelloParams struct {
	Protocol *Range `json:"protocol,omitempty" doc:"versions the client speaks; without it, the daemon's lowest"`
}

// Hello describes the daemon and its capabilities.
type Hello struct {
	Product      string         `json:"product" doc:"swapkeep"`
	Version      string         `json:"version" doc:"product version"`
	Protocol     Versions       `json:"protocol"`
	Capabilities []string       `json:"capabilities" doc:"methods served to this connection"`
	Events       []string       `json:"events" doc:"notifications it may get"`
	State        string         `json:"state" of:"DaemonState" doc:"running or stopping"`
	Instance     UUID           `json:"instance" doc:"new at each start of the daemon"`
	StateDirID   string         `json:"stateDirId" doc:"short id of the state directory"`
	Sandbox      bool           `json:"sandbox" doc:"chains and providers are local; nothing is real"`
	Banner       string         `json:"banner,omitempty" doc:"to be shown always: SANDBOX …"`
	Connection   Connection     `json:"connection"`
	Limits       map[string]int `json:"limits" doc:"maxRequest, maxResult (bytes), maxRunning, maxQueued (requests), pageMax (entries)"`
}

// Versions are the daemon's range and the negotiated version.
type Versions struct {
	Min      int `json:"min"`
	Max      int `json:"max"`
	Selected int `json:"selected" doc:"the highest that both sides speak"`
}

// A Problem is something that does not work, with a remedy.
type Problem struct {
	Name    string `json:"name" doc:"of the error table, or of the part concerned"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// StatusResult is the daemon's health.
type StatusResult struct {
	Version     string       `json:"version"`
	State       string       `json:"state" of:"DaemonState" doc:"running or stopping"`
	PID         int          `json:"pid"`
	Instance    UUID         `json:"instance"`
	StateDirID  string       `json:"stateDirId" doc:"short id of the state directory"`
	Directory   string       `json:"directory" doc:"the state directory"`
	Sandbox     bool         `json:"sandbox"`
	Banner      string       `json:"banner,omitempty"`
	Started     time.Time    `json:"started"`
	Keys        string       `json:"keys" doc:"none, locked, unlocked or the name of an error"`
	Network     uint64       `json:"network" doc:"chain id of the active network"`
	OpenOrders  int          `json:"openOrders" doc:"orders that have not ended"`
	Prices      PricesStatus `json:"prices"`
	Connections []Connection `json:"connections"`
	Problems    []Problem    `json:"problems" doc:"empty when all is well"`
}

// PricesStatus is the state of the price service.
type PricesStatus struct {
	URL     string            `json:"url,omitempty" doc:"of the price API on this machine, whose documentation is at /docs below it; absent: it is not served"`
	Fetched time.Time         `json:"fetched,omitzero" doc:"when prices were last fetched; absent: never"`
	Tokens  int               `json:"tokens" doc:"whose prices are kept"`
	Stale   int               `json:"stale,omitempty" doc:"of them, those whose last price is too old to be called current"`
	Sources map[string]string `json:"sources,omitempty" doc:"why a source failed when it was asked last, by name; absent: it did not"`
}

type StopResult struct {
	Stopping bool `json:"stopping"`
}
