import { readFileSync } from 'node:fs'
import { notifyArguments, notifyEvents } from '../../packages/words/api-schema/src/index.ts'
import { signatureOf } from '../../packages/adapters/egress/src/index.ts'
import { describe, expect, it } from 'vitest'

const page = readFileSync('docs/guides/notifications.md', 'utf8')
const sample = /^```js\n([\s\S]*?)^```/m.exec(page)?.[1] ?? ''

describe('docs/guides/notifications.md', () => {
  it('has every event, and no other', () => {
    const rows = [...page.matchAll(/^\| `([A-Z]\w+)` \|/gm)].map((match) => match[1])
    expect(rows.toSorted()).toEqual(notifyEvents.toSorted())
  })

  it('has every argument of a template', () => {
    expect(notifyArguments.filter((name) => !page.includes(`\`{{${name}}}\``))).toEqual([])
  })

  it("shows how to verify a signature: Tranche's is accepted, and no other", async () => {
    const { isFromTranche } = (await import(`data:text/javascript,${encodeURIComponent(sample)}`)) as {
      readonly isFromTranche: (body: string, header: string, key: string, nowSeconds: number) => boolean
    }
    const body = '{"message":"größer"}'
    const header = signatureOf(body, 'key', 1_000)
    expect(isFromTranche(body, header, 'key', 1_200)).toBe(true)
    expect(isFromTranche(body, header, 'key', 1_301)).toBe(false)
    expect(isFromTranche(body, header, 'another key', 1_000)).toBe(false)
    expect(isFromTranche(`${body} `, header, 'key', 1_000)).toBe(false)
    expect(isFromTranche(body, header.replace('t=1000', 't=1100'), 'key', 1_100)).toBe(false)
    expect(isFromTranche(body, 'v1=', 'key', 1_000)).toBe(false)
  })
})
