import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { sha256Hex } from '../src/index.ts'

it.each(['', 'abc', 'Grüße 🦉', 'x'.repeat(1000)])('hashes %j as OpenSSL does', (text) => {
  expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'))
})
