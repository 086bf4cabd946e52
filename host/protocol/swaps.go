package protocol

// ExecuteParams are the user's consent to a review.
type ExecuteParams struct {
	Request     UUID     `json:"request" doc:"names this act; repeating it returns the order it made"`
	Digest      Hash     `json:"digest" doc:"of the review that was shown"`
	Acknowledge []string `json:"acknowledge,omitempty" of:"FindingCode" doc:"codes of acknowledged findings"`
	Password    Secret   `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
	Amount      Amount   `json:"amount,omitempty" doc:"terms.amountIn entered again, if a terminal's request was refused with amount_again"`
}

// CancelParams request the cancellation of an order.
type CancelParams struct {
	Request  UUID   `json:"request" doc:"names this act"`
	Order    string `json:"order" doc:"id"`
	Digest   Hash   `json:"digest" doc:"the order's, as it was shown"`
	Password Secret `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
}

// CloseParams request that an order is waited for no longer.
type CloseParams struct {
	Request UUID   `json:"request" doc:"names this act"`
	Order   string `json:"order" doc:"id"`
	Digest  Hash   `json:"digest" doc:"the order's, as it was shown"`
}

// Fee tiers of a replacement transaction.
const (
	TierNormal = "normal"
	TierFast   = "fast"
)

// SpeedupParams request that an order's pending transaction is sent again with a higher
// fee.
type SpeedupParams struct {
	Request    UUID   `json:"request" doc:"names this act; repeating it does not bump again"`
	Order      string `json:"order" doc:"id"`
	Digest     Hash   `json:"digest" doc:"the order's, as it was shown"`
	Tier       string `json:"tier,omitempty" of:"Tier" doc:"normal or fast; default: fast"`
	GasCeiling Amount `json:"gasCeiling,omitempty" doc:"wei, above the accepted one: consents to that much gas for all transactions of the order together, and changes terms and digest"`
	Password   Secret `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
}

// AcceptParams are the consent to the proposal of an order that needs consent.
type AcceptParams struct {
	Request     UUID     `json:"request" doc:"names this act"`
	Order       string   `json:"order" doc:"id"`
	Digest      Hash     `json:"digest" doc:"the proposal's, as it was shown"`
	Acknowledge []string `json:"acknowledge,omitempty" of:"FindingCode" doc:"codes of its acknowledged findings"`
	Password    Secret   `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
	Amount      Amount   `json:"amount,omitempty" doc:"terms.amountIn entered again, if a terminal's request was refused with amount_again"`
}
