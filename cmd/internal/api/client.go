package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds what a client reads of one answer, in bytes. The longest is a full block.
const maxAnswer = 8 << 20

// requestTimeout bounds one request, the stream excepted.
const requestTimeout = 10 * time.Second

// Error is an answer that is not 2xx.
type Error struct {
	Status     int
	Body       ErrorBody
	RetryAfter time.Duration // 0: asking again will not help
}

func (e *Error) Error() string {
	if e.Body.Error == "" {
		return fmt.Sprintf("node answered %d %s", e.Status, http.StatusText(e.Status))
	}
	return "node: " + e.Body.Error
}

// NotYet tells whether err is a node's word that the thing asked for will come.
func NotYet(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.RetryAfter > 0
}

// Client asks one node.
type Client struct {
	base string
	http *http.Client
}

// NewClient takes the node's base URL, such as http://127.0.0.1:26680.
func NewClient(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a node, such as http://127.0.0.1:26680", base)
	}
	// Each client has its own connections, closed with it, so that nothing outlives it.
	return &Client{base: strings.TrimSuffix(u.String(), "/"), http: &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 4,
	}}}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Info asks what network the node belongs to.
func (c *Client) Info(ctx context.Context) (out Info, err error) {
	return out, c.get(ctx, "/v1/info", &out)
}

// Key asks for the key of a slot.
func (c *Client) Key(ctx context.Context, slot uint64) (out Key, err error) {
	return out, c.get(ctx, "/v1/keys/"+strconv.FormatUint(slot, 10), &out)
}

// LatestKey asks for the newest key.
func (c *Client) LatestKey(ctx context.Context) (out Key, err error) {
	return out, c.get(ctx, "/v1/keys/latest", &out)
}

// Policy asks for the scheduler's policy.
func (c *Client) Policy(ctx context.Context) (out Policy, err error) {
	return out, c.get(ctx, "/v1/policy", &out)
}

// Entry asks for an entry of the scheduler.
func (c *Client) Entry(ctx context.Context, id uint64) (out Entry, err error) {
	return out, c.get(ctx, "/v1/entries/"+strconv.FormatUint(id, 10), &out)
}

// Runs asks for the receipts of an entry's runs.
func (c *Client) Runs(ctx context.Context, id uint64) (out []Receipt, err error) {
	return out, c.get(ctx, "/v1/entries/"+strconv.FormatUint(id, 10)+"/runs", &out)
}

// Account asks for an account.
func (c *Client) Account(ctx context.Context, address string) (out Account, err error) {
	return out, c.get(ctx, "/v1/accounts/"+url.PathEscape(address), &out)
}

// Items asks for the oracle items that the genesis lists.
func (c *Client) Items(ctx context.Context) (out []Item, err error) {
	return out, c.get(ctx, "/v1/items", &out)
}

// Item asks for an oracle item, by its name or its id in hex.
func (c *Client) Item(ctx context.Context, item string) (out Item, err error) {
	return out, c.get(ctx, "/v1/items/"+url.PathEscape(item), &out)
}

// Block asks for a recent block.
func (c *Client) Block(ctx context.Context, number uint64) (out Block, err error) {
	return out, c.get(ctx, "/v1/blocks/"+strconv.FormatUint(number, 10), &out)
}

// Certificate asks for the certificate of a recent block; 0 for the newest there is.
func (c *Client) Certificate(ctx context.Context, number uint64) (out Certificate, err error) {
	which := "latest"
	if number > 0 {
		which = strconv.FormatUint(number, 10)
	}
	return out, c.get(ctx, "/v1/blocks/"+which+"/certificate", &out)
}

// Evidence asks which validators voted for two blocks at one height.
func (c *Client) Evidence(ctx context.Context) (out []Evidence, err error) {
	return out, c.get(ctx, "/v1/evidence", &out)
}

// Receipt asks for the receipt of a transaction.
func (c *Client) Receipt(ctx context.Context, hash string) (out Receipt, err error) {
	return out, c.get(ctx, "/v1/transactions/"+url.PathEscape(hash), &out)
}

// Try makes a call on the head's state, without effect. The error is Refused if the call itself failed.
func (c *Client) Try(ctx context.Context, call Call) (out Returned, err error) {
	body, err := json.Marshal(call)
	if err != nil {
		return out, err
	}
	return out, c.post(ctx, "/v1/call", "application/json", body, &out)
}

// Refused tells whether err is a node's word that a call it tried fails, and why.
func Refused(err error) (why string, ok bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status != http.StatusUnprocessableEntity {
		return "", false
	}
	return e.Body.Error, true
}

// Submit posts a signed transaction in its Ethereum encoding.
func (c *Client) Submit(ctx context.Context, raw []byte) (out Submitted, err error) {
	return out, c.post(ctx, "/v1/transactions", "application/octet-stream", raw, &out)
}

func (c *Client) post(ctx context.Context, path, kind string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	return c.do(req, out)
}

func (c *Client) get(ctx context.Context, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	return c.do(req, out)
}

func (c *Client) do(req *http.Request, out any) error {
	resp, err := c.http.Do(req)
	if err != nil {
		return c.failed(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return c.failed(err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("asking node %s: its answer is longer than %d bytes", c.base, maxAnswer)
	}
	if resp.StatusCode/100 != 2 {
		return answerError(resp, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("asking node %s: its answer is not what a Daybreak node says: %w", c.base, err)
	}
	return nil
}

// failed says what became of a request without a whole answer.
func (c *Client) failed(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("asking node %s: it gave no whole answer within %s", c.base, requestTimeout)
	}
	return fmt.Errorf("asking node %s: %w", c.base, plain(err))
}

// answerError is an answer that is not 2xx. A line feed in a node's words would look like a line of ours.
func answerError(resp *http.Response, body []byte) error {
	e := &Error{Status: resp.StatusCode}
	// A proxy's error page is no JSON; then the status alone has to do.
	_ = json.Unmarshal(body, &e.Body)
	e.Body.Error = strings.Join(strings.Fields(e.Body.Error), " ")
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}

// plain strips the "Get "http://…":" that net/http puts before the cause.
func plain(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
