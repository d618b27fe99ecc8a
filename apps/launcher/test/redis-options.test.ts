import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RedisOptions } from '@tranche/doctor'
import { AppError } from '@tranche/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRedisSettings } from '../src/redis/redis-options.ts'

const nothing: RedisOptions = { url: undefined, passwordFile: undefined, ca: undefined, prefix: undefined }

describe('readRedisSettings', () => {
  let folder: string
  let passwordFile: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-redis-options-'))
    passwordFile = join(folder, 'password')
    writeFileSync(passwordFile, 'from file\n')
    writeFileSync(join(folder, 'empty'), '\n')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([
    ['redis://redis', { address: { kind: 'server', host: 'redis', port: 6379 }, database: 0, tls: null }],
    ['redis://redis/', { address: { kind: 'server', host: 'redis', port: 6379 }, database: 0 }],
    ['redis://10.0.0.7:7000/3', { address: { kind: 'server', host: '10.0.0.7', port: 7000 }, database: 3 }],
    ['redis://[::1]:7000', { address: { kind: 'server', host: '::1', port: 7000 } }],
    ['redis://tranche@redis', { username: 'tranche', password: undefined }],
    ['rediss://redis', { tls: { ca: undefined } }],
    [
      'redis+sentinel://a,b:7001/main',
      {
        address: {
          kind: 'sentinels',
          sentinels: [
            { host: 'a', port: 26_379 },
            { host: 'b', port: 7001 },
          ],
          master: 'main',
        },
        database: 0,
        tls: null,
      },
    ],
    ['rediss+sentinel://a/main/2', { database: 2, tls: { ca: undefined } }],
  ])('reads %s', (url, expected) => {
    expect(readRedisSettings({ ...nothing, url }, {})).toMatchObject(expected)
  })

  it('has no settings if no Redis is named', () => {
    expect(readRedisSettings(nothing, {})).toBeNull()
    expect(readRedisSettings(nothing, { TRANCHE_REDIS_URL: '' })).toBeNull()
  })

  it('prefers the URL on the command line to the one in the environment', () => {
    const env = { TRANCHE_REDIS_URL: 'redis://other' }
    expect(readRedisSettings(nothing, env)).toMatchObject({ address: { host: 'other' } })
    expect(readRedisSettings({ ...nothing, url: 'redis://mine' }, env)).toMatchObject({ address: { host: 'mine' } })
  })

  it('takes the password from the file, else from its variable, else from the URL of the environment', () => {
    const withUrl = { TRANCHE_REDIS_URL: 'redis://tranche:from%20url@redis' }
    const withVariable = { ...withUrl, TRANCHE_REDIS_PASSWORD: 'from variable' }
    expect(readRedisSettings(nothing, withUrl)).toMatchObject({ username: 'tranche', password: 'from url' })
    expect(readRedisSettings(nothing, withVariable)).toMatchObject({ password: 'from variable' })
    expect(readRedisSettings({ ...nothing, passwordFile }, withVariable)).toMatchObject({ password: 'from file' })
  })

  it('removes the line break at the end of a variable', () => {
    const env = { TRANCHE_REDIS_URL: 'redis://redis:6380\n', TRANCHE_REDIS_PASSWORD: 'one\r\n', TRANCHE_REDIS_SENTINEL_PASSWORD: 'two\n' }
    expect(readRedisSettings(nothing, env)).toMatchObject({
      address: { host: 'redis', port: 6380 },
      password: 'one',
      sentinelPassword: 'two',
    })
  })

  it('rereads the password file each time, and keeps the previous password while the file is empty', () => {
    const rotated = join(folder, 'rotated')
    writeFileSync(rotated, 'one')
    const settings = readRedisSettings({ ...nothing, url: 'redis://redis', passwordFile: rotated }, {})
    const passwords = ['two', '', 'three'].map((text) => (writeFileSync(rotated, text), settings?.password))
    expect(passwords).toEqual(['two', 'two', 'three'])
  })

  it('reads the password of the sentinels from a separate variable', () => {
    const env = { TRANCHE_REDIS_SENTINEL_PASSWORD: 'watchman' }
    expect(readRedisSettings({ ...nothing, url: 'redis+sentinel://a/main' }, env)).toMatchObject({ sentinelPassword: 'watchman' })
  })

  it.each([
    ['redis', 'give redis://HOST'],
    ['', 'give redis://HOST'],
    ['http://redis', 'give redis://HOST'],
    ['redis://', 'give redis://HOST'],
    ['redis://redis:0', 'port from 1 to 65535'],
    ['redis://redis:70000', 'port from 1 to 65535'],
    ['redis://redis/one', 'number of a database'],
    ['redis://redis/1/2', 'number of a database'],
    ['redis://a,b', 'name one server'],
    ['redis+sentinel://a', 'name the master'],
    ['redis://%zz@redis', 'as %25'],
  ])('refuses --redis %s and says how to write it', (url, fix) => {
    const error = errorOf({ ...nothing, url })
    expect(error.code).toBe('OPTION_INVALID')
    expect(error.message).toContain('--redis does not take')
    expect(error.hint?.toLowerCase()).toContain(fix.toLowerCase())
  })

  it('refuses a password on the command line, and does not repeat it', () => {
    const error = errorOf({ ...nothing, url: 'redis://tranche:hunter2@redis' })
    expect(error).toMatchObject({ code: 'OPTION_INVALID', hint: expect.stringContaining('--redis-password-file') as string })
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain('hunter2')
  })

  it.each([
    'redis://tranche:hunter2@redis/one',
    'redis://tranche:hunter2@redis:0',
    'redis://tranche:hunter2@',
    'redis://:hunter2@a,b',
    'redis://tranche:hunter2',
  ])('does not repeat the password of a URL that is also invalid: %s', (url) => {
    const error = errorOf(nothing, { TRANCHE_REDIS_URL: url })
    expect(JSON.stringify([error.message, error.hint, error.details, error.stack])).not.toContain('hunter2')
  })

  it.each([
    ['--redis-password-file', { passwordFile: 'somewhere' }],
    ['--redis-ca', { ca: 'somewhere' }],
    ['--redis-prefix', { prefix: 'two' }],
  ])('refuses %s without a Redis', (option, given) => {
    expect(errorOf({ ...nothing, ...given }).message).toBe(`${option} requires --redis`)
  })

  it('refuses a password file that cannot be read or is empty, and a CA with a URL without TLS', () => {
    const url = 'redis://redis'
    expect(errorOf({ ...nothing, url, passwordFile: join(folder, 'none') }).hint).toContain('readable')
    expect(errorOf({ ...nothing, url, passwordFile: join(folder, 'empty') }).hint).toContain('which is empty')
    expect(errorOf({ ...nothing, url, ca: passwordFile }).hint).toContain('rediss://')
  })
})

function errorOf(options: RedisOptions, env = {}): AppError {
  try {
    readRedisSettings(options, env)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
