package rest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// ndjsonType is newline-delimited JSON: one value per line, each sent as soon as it is
// known.
const ndjsonType = "application/x-ndjson"

// Stream is Do for a reply that comes line by line: each line that is not blank is passed
// to line as it arrives, with the reply's head, which was received before the first. The
// reply has no body. An error of line ends the call and is returned as it is. A service
// that answers with plain JSON instead gives a reply with a body, as in Do. The call is
// not repeated; lines and reply stay within the limits of a call and of a body.
func (c *Client) Stream(ctx context.Context, call Call, line func(head *Reply, line []byte) error) (*Reply, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, c.limits.Call)
	defer cancel()
	var refused error
	call.lines = func(head *Reply, b []byte) error {
		refused = line(head, b)
		return refused
	}
	reply, err := c.once(ctx, call)
	switch {
	case refused != nil:
		return nil, refused
	case err == nil:
		return reply, nil
	case errors.Is(caller.Err(), context.Canceled):
		return nil, fmt.Errorf("%s: %s %s: %w", c.config.Name, call.Method, call.Path, caller.Err())
	}
	return nil, err
}

// isNDJSON reports whether res is a 2xx reply in lines.
func isNDJSON(res *http.Response) bool {
	media, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && media == ndjsonType && res.StatusCode >= 200 && res.StatusCode < 300
}

// errLine marks an error of Stream's line function, which says nothing about the service.
var errLine = errors.New("the lines were refused")

func (c *Client) readLines(ctx context.Context, res *http.Response, call Call) (*Reply, *Error) {
	head := &Reply{Status: res.StatusCode, Header: res.Header, Received: c.now()}
	left := &io.LimitedReader{R: res.Body, N: c.limits.Body + 1}
	lines := bufio.NewReader(left)
	if recorderOf(ctx) != nil {
		var all bytes.Buffer
		lines = bufio.NewReader(io.TeeReader(left, &all))
		defer func() { recorderOf(ctx).record(call, res.StatusCode, all.Bytes()) }()
	}
	for {
		b, err := lines.ReadBytes('\n')
		if left.N <= 0 {
			return nil, &Error{Kind: TooLarge, Status: res.StatusCode, Detail: fmt.Sprintf("more than %d bytes", c.limits.Body)}
		}
		if err != nil && err != io.EOF {
			return nil, transportError(ctx, err)
		}
		if b = bytes.TrimSpace(b); len(b) > 0 && call.lines(head, b) != nil {
			return nil, &Error{Kind: BadStatus, Status: res.StatusCode, Err: errLine}
		}
		if err == io.EOF {
			return head, nil
		}
	}
}
