// Loaded before every script: ends it when a package reaches beyond this machine. All
// of TCP goes through here, and so do fetch and WebSocket.
const dgram = require('node:dgram')
const dns = require('node:dns')
const net = require('node:net')

const loopback = new Set(['127.0.0.1', '::1', 'localhost'])

function refuse(where) {
  process.stderr.write(`a package reached for ${where}\n`)
  process.exit(9)
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args // net.connect hands on a normalised list
  const host = typeof options === 'object' ? (options.host ?? 'localhost') : typeof args[1] === 'string' ? args[1] : 'localhost'
  if (!options?.path && !loopback.has(host)) refuse(host)
  return connect.apply(this, args)
}
dgram.Socket.prototype.send = () => refuse('UDP')
const lookup = dns.lookup
dns.lookup = (host, ...rest) => (loopback.has(host) ? lookup(host, ...rest) : refuse(host))
