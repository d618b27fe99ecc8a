import { isHostAllowed, parseHostRule } from '@tranche/egress'
import { describe, expect, it } from 'vitest'

describe('an allowed host', () => {
  const cases: Record<string, { rule: string; allows: readonly string[]; refuses: readonly string[] }> = {
    'is that host, with any port and either scheme': {
      rule: 'example.com',
      allows: ['http://example.com/', 'https://EXAMPLE.com:8443/x?y', 'https://example.com./'],
      refuses: ['http://a.example.com/', 'http://example.com.evil.org/', 'http://notexample.com/'],
    },
    'is only that port if one is named, even the default one of the scheme': {
      rule: 'example.com:443',
      allows: ['https://example.com/', 'http://example.com:443/'],
      refuses: ['http://example.com/', 'https://example.com:444/'],
    },
    'is every name below a domain, but not the domain': {
      rule: '*.example.com',
      allows: ['https://a.example.com/', 'https://a.b.example.com/'],
      refuses: ['https://example.com/', 'https://badexample.com/'],
    },
    'is an address in any notation': {
      rule: '127.0.0.1',
      allows: ['http://127.0.0.1:9090/', 'http://0x7f.1/', 'http://2130706433/'],
      refuses: ['http://127.0.0.2/', 'http://[::ffff:127.0.0.1]/'],
    },
    'is an IPv6 address with its port': {
      rule: '[::1]:9090',
      allows: ['http://[0:0::1]:9090/'],
      refuses: ['http://[::1]/', 'http://[::2]:9090/'],
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { rule, allows, refuses }) => {
    const parsed = parseHostRule(rule)
    if (typeof parsed === 'string') throw new Error(parsed)
    expect(allows.filter((url) => !isHostAllowed(new URL(url), [parsed]))).toEqual([])
    expect(refuses.filter((url) => isHostAllowed(new URL(url), [parsed]))).toEqual([])
  })

  it.each(['', '*', 'https://example.com', 'example.com/x', 'a b', 'user@example.com', '*.10.0.0.1', 'a.*.com', 'example.com:99999', '*.'])(
    'is not %j, and the error names the valid forms',
    (rule) => expect(parseHostRule(rule)).toMatch(/ is not a host; use a name/),
  )

  it('does not exist without a rule', () => expect(isHostAllowed(new URL('http://127.0.0.1/'), [])).toBe(false))
})
