import { FakeClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { createCredentialSource } from '../src/credentials/credential-source.ts'
import type { Credentials } from '../src/exchange/undici-exchange.ts'
import { failure } from './canned-client.ts'

describe('the source of credentials', () => {
  it('rereads them after ten seconds, and shares one answer until then', async () => {
    const { source, clock, asked } = setUp()
    const all = await Promise.all([source.credentials(), source.credentials()])
    clock.advance(9_999)
    expect([...all, await source.credentials()].map(tokenOf)).toEqual(['t1', 't1', 't1'])
    clock.advance(1)
    expect(tokenOf(await source.credentials())).toBe('t2')
    expect(asked).toEqual(['read', 'read'])
  })

  it('does not remember a failure', async () => {
    const { source, answers } = setUp()
    answers.fail = true
    expect(await failure(source.credentials())).toBe(away)
    answers.fail = false
    expect(tokenOf(await source.credentials())).toBe('t2')
  })

  it('returns newer known credentials to a rejected caller, without requesting new ones', async () => {
    const { source, clock, asked } = setUp()
    const refused = await source.credentials()
    clock.advance(10_000)
    await source.credentials()
    expect(tokenOf((await source.renew(refused))!)).toBe('t2')
    expect(asked).toEqual(['read', 'read'])
  })

  it('requests new ones once in ten seconds, however often they are rejected', async () => {
    const { source, clock, asked } = setUp()
    const renewed = (await source.renew(await source.credentials()))!
    expect(tokenOf(renewed)).toBe('t2')
    clock.advance(9_999)
    expect(await source.renew(renewed)).toBeNull()
    clock.advance(1)
    expect(tokenOf((await source.renew(renewed))!)).toBe('t3')
    expect(asked).toEqual(['read', 'reload', 'reload'])
  })

  it('requests new ones if it could not read any', async () => {
    const { source, answers } = setUp()
    answers.fail = true
    await failure(source.credentials())
    answers.fail = false
    expect(tokenOf((await source.renew(credentialsOf('t0')))!)).toBe('t2')
  })

  it.each<[string, Partial<Credentials>]>([
    ['authority', { ca: 'other' }],
    ['certificate', { cert: 'other' }],
    ['key', { key: 'other' }],
    ['header', { headers: { authorization: 'other' } }],
  ])('counts credentials with another %s as new ones', async (_part, other) => {
    const clock = new FakeClock()
    const [old, fresh] = [credentialsOf('t'), { ...credentialsOf('t'), ...other }]
    const source = createCredentialSource({ clock, read: async () => old, reload: async () => fresh })
    expect(await source.renew(await source.credentials())).toBe(fresh)
  })

  it('has no new credentials if they are equal, whatever the order of their headers', async () => {
    const clock = new FakeClock()
    const [old, same] = [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
    ].map((headers) => ({ ...credentialsOf('t'), headers }))
    const source = createCredentialSource({ clock, read: async () => old!, reload: async () => same! })
    expect(await source.renew(await source.credentials())).toBeNull()
  })
})

const away = new Error('the plugin is away')

function setUp() {
  const clock = new FakeClock()
  const asked: string[] = []
  const answers = { fail: false }
  const answer = async (how: string): Promise<Credentials> => {
    asked.push(how)
    if (answers.fail) throw away
    return credentialsOf(`t${asked.length}`)
  }
  const source = createCredentialSource({ clock, read: () => answer('read'), reload: () => answer('reload') })
  return { source, clock, asked, answers }
}

function credentialsOf(token: string): Credentials {
  return { headers: { authorization: token }, ca: 'ca', cert: 'cert', key: 'key' } as Credentials
}

function tokenOf({ headers }: Credentials): unknown {
  return headers['authorization']
}
