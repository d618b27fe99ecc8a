import { bodyText, type WireResponse } from '@tranche/wire'
import { describe, expect, it } from 'vitest'

describe('bodyText', () => {
  it.each([
    { title: 'puts chunks together in order', chunks: ['{"kind"', ':"Status"', '}'], want: '{"kind":"Status"}' },
    { title: 'takes an empty body for empty text', chunks: [], want: '' },
    { title: 'keeps characters beyond the basic plane', chunks: ['🚀', 'é'], want: '🚀é' },
  ])('$title', async ({ chunks, want }) => {
    expect(await bodyText(responseOf(chunks))).toBe(want)
  })

  it('rejects when the connection breaks before the end', async () => {
    await expect(bodyText(responseOf(['{"kind"'], new Error('connection reset')))).rejects.toThrow('connection reset')
  })
})

function responseOf(chunks: readonly string[], end?: Error): WireResponse {
  async function* body(): AsyncGenerator<string> {
    yield* chunks
    if (end !== undefined) throw end
  }
  return { status: 200, headers: {}, body: body() }
}
