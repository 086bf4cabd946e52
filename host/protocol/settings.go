package protocol

// Types of a setting. Every value is text.
const (
	SettingPercent  = "percent"  // 0.5
	SettingDuration = "duration" // 15m, 1h30m
	SettingNumber   = "number"   // a whole number
	SettingSwitch   = "switch"   // true or false
	SettingChoice   = "choice"   // one of choices
	SettingText     = "text"
	SettingURL      = "url"
	SettingURLs     = "urls" // in Values
)

// Sources of a setting's value, weakest first.
const (
	FromDefault     = "default"
	FromFile        = "file"
	FromSetting     = "setting" // settings.set
	FromEnvironment = "environment"
	FromFlag        = "flag"
)

// What a change of a setting requires.
const (
	RightSession  = "session"  // an open session
	RightPassword = "password" // the wallet's password, each time
	RightNone     = "none"     // cannot be changed over the wire
	RightTerminal = "terminal" // for a value above TerminalAbove: a terminal
)

// When a change takes effect.
const (
	AppliesNow     = "now"
	AppliesRestart = "restart"
)

// A Setting is one configuration key: its value, the source of the value and what a
// change requires.
type Setting struct {
	Key         string   `json:"key" doc:"as in the configuration file, such as keys.auto_lock"`
	Description string   `json:"description" doc:"what it is for"`
	Type        string   `json:"type" of:"SettingType" doc:"percent, duration, number, switch, choice, text, url or urls"`
	Value       string   `json:"value" doc:"empty for urls"`
	Values      []string `json:"values,omitempty" doc:"of urls"`
	Masked      bool     `json:"masked,omitempty" doc:"of URLs only the host is shown, for the path may be an access key, and of files only the name"`
	Default     string   `json:"default" doc:"the value without any source; empty for urls"`
	Source      string   `json:"source" of:"SettingSource" doc:"default, file, setting, environment or flag"`
	Name        string   `json:"name,omitempty" doc:"of the variable or flag; of the file, at a terminal"`
	Requires    string   `json:"requires" of:"SettingRight" doc:"what changing it asks for: session, password (each time) or none (it cannot be changed here)"`
	Refused     string   `json:"refused,omitempty" doc:"why it cannot be changed now"`
	TakesEffect string   `json:"takesEffect" of:"SettingApplies" doc:"now or restart: when a change takes effect"`
	Pending     bool     `json:"pending,omitempty" doc:"the value waits for a restart"`
	Min         string   `json:"min,omitempty" doc:"inclusive"`
	Max         string   `json:"max,omitempty" doc:"inclusive"`
	Choices     []string `json:"choices,omitempty"`

	PasswordAbove string `json:"passwordAbove,omitempty" doc:"from a browser a value above this takes the password each time; of log.level, one that says more"`
	TerminalAbove string `json:"terminalAbove,omitempty" doc:"a value above this is taken from a terminal only"`
}

type SettingsParams struct {
	Keys   []string `json:"keys,omitempty" doc:"default: all"`
	Reveal bool     `json:"reveal,omitempty" doc:"show URLs and files whole; at a terminal only"`
}

// SettingsResult lists settings, in table order or as requested.
type SettingsResult struct {
	Settings []Setting `json:"settings"`
}

// SetParams change one setting: exactly one of Value, Values and Reset is given.
type SetParams struct {
	Key      string   `json:"key"`
	Value    *string  `json:"value,omitempty" doc:"of every type but urls"`
	Values   []string `json:"values,omitempty" doc:"or, of urls, 1 to 8 of them, in the order in which they are tried"`
	Reset    bool     `json:"reset,omitempty" doc:"or forget what was set here: file or default hold again"`
	Password Secret   `json:"password,omitempty" doc:"where the setting's right is password, or the value is above passwordAbove"`
}

// SetResult is the setting after the change.
type SetResult struct {
	Setting Setting `json:"setting"`
}

type SettingsChanged struct {
	Key string `json:"key"`
}

// SetKeyParams set a provider's key.
type SetKeyParams struct {
	Provider string `json:"provider" doc:"dex, bridge, intent or gasless; coingecko or hosted, which are sources of prices"`
	Key      Secret `json:"key" doc:"as the provider issued it, for dex the key proxy; empty: forget it"`
	Password Secret `json:"password" doc:"the vault's, each time"`
}

// SetKeyResult reports whether there is a key now. The key itself is never shown.
type SetKeyResult struct {
	Provider string `json:"provider"`
	Set      bool   `json:"set" doc:"there is a key"`
}
