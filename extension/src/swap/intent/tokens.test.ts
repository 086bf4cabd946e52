import { afterEach, describe, expect, test, vi } from "vitest";
import { NATIVE } from "../../state/network-data";
import { cleanText, fetchTokens, readTokens } from "./tokens";

const usdc = { id: "8453-0x83", address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", chainId: 8453, name: "USD Coin", symbol: "USDC", decimals: 6, logoURI: "https://example.invalid/usdc.png", extensions: { price: { usd: "0.9998" }, isRiskToken: false } };
const read = { chainId: 8453, address: usdc.address, symbol: "USDC", name: "USD Coin", decimals: 6, verified: false };
const entry = (more: object) => ({ ...usdc, ...more });

describe("readTokens", () => {
	test("takes the envelope and the plain array", () => {
		expect(readTokens({ data: [usdc], cursor: 50 }, [8453])).toEqual([read]);
		expect(readTokens([usdc], [8453])).toEqual([read]);
	});

	test.each<[string, unknown]>([
		["another network", entry({ chainId: 1 })],
		["a chain id as text", entry({ chainId: "8453" })],
		["no number of a chain", entry({ chainId: Number.NaN })],
		["an address too short", entry({ address: "0x1234" })],
		["an address with more behind it", entry({ address: `${usdc.address}\n` })],
		["an address of another kind", entry({ address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" })],
		["decimals below zero", entry({ decimals: -1 })],
		["decimals above 36", entry({ decimals: 37 })],
		["half a decimal", entry({ decimals: 6.5 })],
		["decimals as text", entry({ decimals: "6" })],
		["no decimals", entry({ decimals: undefined })],
		["a symbol that is not seen", entry({ symbol: "\u200b\u2060\u{e0041}" })],
		["a symbol that is no text", entry({ symbol: ["USDC"] })],
		["the provider's own warning", entry({ extensions: { isRiskToken: true } })],
		["null", null],
		["a text", "USDC"],
		["an array", [usdc]],
		["fields of its prototype only", Object.create(usdc)],
	])("leaves out an entry with %s, and keeps the next", (_, bad) => {
		expect(readTokens([bad, usdc], [8453])).toEqual([read]);
	});

	test.each<[string, unknown]>([["null", null], ["a text", "tokens"], ["an error", { name: "InternalException" }], ["data that is no list", { data: { 0: usdc } }]])("refuses %s", (_, body) => {
		expect(() => readTokens(body, [8453])).toThrow("no list of tokens");
	});

	test("makes names fit for one line, and verifies nothing whatever the list says", () => {
		const [token] = readTokens([entry({ symbol: "USD\u202eC\n", name: "", verified: true, imported: true })], [8453]);
		expect(token).toEqual({ ...read, symbol: "USDC", name: "USDC" });
	});

	test("has each token once, and both spellings of the coin as one", () => {
		const again = entry({ address: usdc.address.toLowerCase(), symbol: "OTHER" });
		const coins = [entry({ address: "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE", symbol: "ETH" }), entry({ address: NATIVE, symbol: "ETH2" })];
		expect(readTokens([usdc, again, ...coins], [8453]).map((t) => [t.symbol, t.address])).toEqual([["USDC", usdc.address], ["ETH", NATIVE]]);
	});

	test("takes 2,000 tokens at the most", () => {
		const many = Array.from({ length: 2100 }, (_, i) => entry({ address: `0x${i.toString(16).padStart(40, "0")}` }));
		expect(readTokens(many, [8453])).toHaveLength(2000);
	});
});

test.each<[string, unknown, string]>([
	["spaces", "  a \t\n b ", "a b"],
	["spaces around what is not seen", "a \u202e b \u200b\u2060 c", "a b c"],
	["what turns text around", "\u202eCDSU\u202c\u2066x\u2069", "CDSUx"],
	["what is not seen", "U\u200bS\u00adD\ufeff\u3164C\u2800", "USDC"],
	["control characters", "a\u0000\u001b[31mb", "a[31mb"],
	["halves of characters", "a\ud800b", "ab"],
	["a pile of marks", `e${"\u0301".repeat(30)}x`, "e\u0301\u0301x"],
	["a mark on nothing", "\u0301abc", "abc"],
	["markup, which stays text", "<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
	["other scripts", "Ходл 漢字 שלום", "Ходл 漢字 שלום"],
	["a long one", "x".repeat(100), `${"x".repeat(63)}…`],
	["64 letters outside the first plane", "🦊".repeat(64), "🦊".repeat(64)],
	["no text", 7, ""],
])("cleanText: %s", (_, raw, clean) => {
	expect(cleanText(raw)).toBe(clean);
});

describe("fetchTokens", () => {
	afterEach(() => vi.useRealTimers());
	const base = "http://127.0.0.1:1";
	const answering = (body: BodyInit | null, init?: ResponseInit) => vi.fn<typeof fetch>(async () => new Response(body, init));

	test("asks for the networks' tokens without saying who asks", async () => {
		const fetcher = answering(JSON.stringify({ data: [usdc] }));
		expect(await fetchTokens([1, 8453], fetcher, base)).toEqual({ tokens: [read] });
		const [url, init] = fetcher.mock.calls[0]!;
		expect(url).toBe(`${base}/v1/tokens?chainIds=1,8453&limit=2000`);
		expect(init).toMatchObject({ credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" });
	});

	test.each<[string, BodyInit | null, ResponseInit | undefined, RegExp]>([
		["an error of the service", "{}", { status: 500 }, /HTTP 500/],
		["what is no JSON", "<html>", undefined, /JSON/],
		["an end in the middle", '{"data": [', undefined, /JSON/],
		["no body", null, undefined, /no body/],
		["what is no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), undefined, /encoded data|invalid/i],
		["another form", '{"tokens": []}', undefined, /no list/],
	])("of %s comes an empty list with the reason", async (_, body, init, reason) => {
		const listing = await fetchTokens([8453], answering(body, init), base);
		expect(listing.tokens).toEqual([]);
		expect(listing.reason).toMatch(reason);
	});

	test("stops reading a body that does not end", async () => {
		const piece = new Uint8Array(256 * 1024).fill(0x20);
		let read = 0;
		let cancelled = false;
		const endless = new ReadableStream<Uint8Array>({
			pull: (c) => (read++, c.enqueue(piece)),
			cancel: () => void (cancelled = true),
		});
		const listing = await fetchTokens([8453], answering(endless), base);
		expect(listing.reason).toMatch(/more than 2097152 bytes/);
		expect(cancelled).toBe(true);
		expect(read).toBeLessThan(12);
	});

	test("gives up after eight seconds, also in the middle of a body", async () => {
		vi.useFakeTimers();
		// Fake timers do not affect AbortSignal.timeout.
		vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
			const late = new AbortController();
			setTimeout(() => late.abort(new Error("too slow")), ms);
			return late.signal;
		});
		const hanging: typeof fetch = async (_, init) =>
			new Response(new ReadableStream({ start: (c) => init?.signal?.addEventListener("abort", () => c.error(init.signal!.reason)) }));
		const asked = fetchTokens([8453], hanging, base);
		await vi.advanceTimersByTimeAsync(8000);
		expect(await asked).toEqual({ tokens: [], reason: "too slow" });
		vi.restoreAllMocks();
	});

	test("of a network that is down comes an empty list", async () => {
		expect(await fetchTokens([8453], () => Promise.reject(new TypeError("Failed to fetch")), base)).toEqual({ tokens: [], reason: "Failed to fetch" });
	});
});
