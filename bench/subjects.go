package main

import "time"

// subjects are the rows of the table that need no browser.
var subjects = append([]subject{
	{"spawn to hello, daemon up", peers("bare Go echo host"), bareC, inTime, atMostTimes(1.5), measureSpawn},
	{"hello round trip", peers("same relay, bare echo daemon"), bareC, inTime, atMostTimes(1.5), measureRoundTrip},
	{"Permit2 PermitSingle: hash + sign", libraryNames(), bareSecp256k1, inTime, timesFaster(8), measurePermit},
	{"signature: nonces told apart by their time, |t|", nil, "", inT, atMost(5), measureNonces},
	{"host time added to a quote", nil, "the provider's HTTP alone", inTime, atMostMore(float64(time.Millisecond)), measureQuote},
	{"host time added to four providers at once", nil, "the slowest one's HTTP alone", inTime, atMostMore(float64(2 * time.Millisecond)), measureAtOnce},
	{"JAM order: rebuild, compare, sign", nil, bareSecp256k1, inTime, atMost(float64(150 * time.Microsecond)), orderOf(jamOrder, false)},
	{"JAM order of a kept quote: rebuild, sign", nil, bareSecp256k1, inTime, noGoal, orderOf(jamOrder, true)},
	{"Dutch V3 order: rebuild, compare, sign", nil, bareSecp256k1, inTime, atMost(float64(150 * time.Microsecond)), orderOf(dutchOrder, false)},
	{"Dutch V3 order of a kept quote: rebuild, sign", nil, bareSecp256k1, inTime, noGoal, orderOf(dutchOrder, true)},
	{"Check of a plan (approve, permit, swap)", nil, "", inTime, atMost(float64(50 * time.Microsecond)), measureCheck},
	{"decoding of its permit and swap", nil, "", inTime, noGoal, measureDecode},
	{"load of 1,000 open orders at start", nil, readAlone, inTime, atMost(float64(time.Second)), loadOrders(1000)},
	{"price list of 100 tokens, under load", peers(bareHandler), bareTCP, inTime, ofTheRate(0.9), loadOf(100, listPath, false)},
	{"price list of 100 of 10,000 tokens, under load", peers(bareHandler), bareTCP, inTime, ofTheRate(0.85), loadOf(10_000, listPath, false)},
	{"price of one token, under load", peers(bareHandler), bareTCP, inTime, ofTheRate(0.7), loadOf(100, singlePath(7), false)},
	{"price list under load: slowest hundredth", peers(bareHandler), bareTCP, inTime, noGoal, loadOf(100, listPath, true)},
	{"commit of a minute to a new history, 1,000 tokens", peers(keyPerSample, inSQLite), fsyncAlone, inTime, noGoal, commitOf(1000)},
	{"commit of a minute to a new history, 10,000 tokens", peers(keyPerSample, inSQLite), fsyncAlone, inTime, noGoal, commitOf(10_000)},
	{"commit of a minute to a month's history, 1,000 tokens", peers(keyPerSample, inSQLite), fsyncAlone, inTime, noGoal, ofPast(func(p *monthHistory) sides { return p.commits })},
	{"history of 1,000 tokens: written a day", peers(keyPerSample, inSQLite), ownBytes, inSize, atMost(120 * megabyte), ofPast(func(p *monthHistory) sides { return p.day })},
	{"history of 1,000 tokens: file", peers(keyPerSample, inSQLite), ownBytes, inSize, atMost(100 * megabyte), ofPast(func(p *monthHistory) sides { return p.file })},
	{"chart of 24h, read alone", peers(keyPerSample, inSQLite), "", inTime, noGoal, chartAlone("24h")},
	{"chart of a week, read alone", peers(keyPerSample, inSQLite), "", inTime, noGoal, chartAlone("week")},
	{"chart of a month, read alone", peers(keyPerSample, inSQLite), "", inTime, noGoal, chartAlone("month")},
	{"chart of 24h, response included", nil, bareHandler, inTime, atMost(float64(time.Millisecond)), chartOf("24h")},
	{"chart of a week, response included", nil, bareHandler, inTime, atMost(float64(time.Millisecond)), chartOf("week")},
	{"chart of a month, response included", nil, bareHandler, inTime, atMost(float64(time.Millisecond)), chartOf("month")},
	{"price server, 100 tokens: resident memory", nil, bareServer, inSize, noGoal, priceMemoryOf(100)},
	{"price server, 10,000 tokens: resident memory", nil, bareServer, inSize, noGoal, priceMemoryOf(10_000)},
	{"idle daemon: resident memory", nil, bareDaemon, inSize, atMost(30 * megabyte), memoryOf("VmRSS")},
	{"idle daemon: most resident memory", nil, bareDaemon, inSize, noGoal, memoryOf("VmHWM")},
	{"sandbox: four chains and all providers ready", nil, "", inTime, atMost(float64(2 * time.Second)), measureSandbox},
	{"relay binary, stripped", nil, bareProgram, inSize, atMost(8 * megabyte), sizeOf("swapkeep")},
	{"daemon binary, stripped", nil, bareProgram, inSize, atMost(22 * megabyte), sizeOf("swapkeepd")},
	{"extension's package, Chromium", nil, "", inKilo, noGoal, packageOf("chromium")},
	{"extension's package, Firefox", nil, "", inKilo, noGoal, packageOf("firefox")},
}, coverageSubjects()...)

// inBrowsers are the rows that are measured in real browsers.
var inBrowsers = []subject{
	{"popup's JavaScript until the form, gzip", nil, "", inKilo, atMost(60 * kilobyte), inBrowser("chromium", "popup", "scripts")},
	{"native port to first answer, Chromium", peers(echoInBrowser), "", inTime, atMostTimes(1.2), inBrowser("chromium", "connect", "reply")},
	{"native port to first answer, Firefox", peers(echoInBrowser), "", inTime, atMostTimes(1.2), inBrowser("firefox", "connect", "reply")},
	{"popup open to interactive, Chromium", nil, emptyPage, inTime, atMost(float64(interactive)), inBrowser("chromium", "popup", "action")},
	{"popup in a tab to interactive, Chromium", nil, emptyPage, inTime, atMost(float64(interactive)), inBrowser("chromium", "popup", "tab")},
	{"popup in a tab to interactive, Firefox", nil, emptyPage, inTime, noGoal, inBrowser("firefox", "popup", "tab")},
	{"frames dropped in 5 s: form, 50 news/s, Chromium", nil, noNews, inWhole, noMore, inBrowser("chromium", "frames", "form")},
	{"frames dropped in 5 s: activity, 50 news/s, Chromium", nil, noNews, inWhole, noMore, inBrowser("chromium", "frames", "activity")},
	{"frames dropped in 5 s: form, 50 news/s, Firefox", nil, noNews, inWhole, noMore, inBrowser("firefox", "frames", "form")},
	{"frames dropped in 5 s: activity, 50 news/s, Firefox", nil, noNews, inWhole, noMore, inBrowser("firefox", "frames", "activity")},
}

// bareC is the smallest possible host.
const bareC = "bare C echo host"

// interactive is the longest that a popup may take until it can be used.
const interactive = 150 * time.Millisecond

// What the browser rows are compared with.
const (
	echoInBrowser = "bare Go echo host, same browser"
	emptyPage     = "page of one field, same extension"
	noNews        = "the same without the news"
)
