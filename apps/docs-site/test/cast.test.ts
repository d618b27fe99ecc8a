import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { castOf, readCast, writeCast } from '../src/index.ts'

const lines = [
  { seconds: 0, text: '$ tranche dev --demo' },
  { seconds: 1.25, text: 'releasing "v2" – 30 nodes' },
]

describe('a recording', () => {
  it('is read as it was written', () => {
    const cast = castOf('A release', lines)
    expect(readCast(writeCast(cast))).toEqual(cast)
    expect(cast.frames.map(({ text }) => text)).toEqual(lines.map(({ text }) => `${text}\r\n`))
  })

  it('is as wide as its longest line', () => {
    expect(castOf('A release', [{ seconds: 0, text: 'x'.repeat(99) }])).toMatchObject({ columns: 99 })
    expect(castOf('A release', lines)).toMatchObject({ columns: 80 })
  })

  it('is read without input and markers', () => {
    const text = `{"version":2,"width":80,"height":24}\n[0.1,"i","y"]\n[0.2,"o","a"]\n[0.3,"m","here"]\n`
    expect(readCast(text)).toMatchObject({ title: '', frames: [{ seconds: 0.2, text: 'a' }] })
  })

  it('of another version is rejected', () => {
    expect(() => readCast('{"version":3,"term":{"cols":80}}\n')).toThrow('in version 2')
  })
})

describe('docs/guides/images/demo.cast', () => {
  const cast = readCast(readFileSync('docs/guides/images/demo.cast', 'utf8'))
  const text = cast.frames.map((frame) => frame.text).join('')

  it('shows a release from its first to its last node, in the order of time', () => {
    expect(text).toMatch(/^\$ tranche dev --demo --exit\r\nreleasing .* to 30 nodes/)
    expect(text).toMatch(/is Healthy: 30 of 30 nodes updated in 3 batches and .*\r\n$/)
    const times = cast.frames.map(({ seconds }) => seconds)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('has no token, address or folder of the machine that recorded it', () => {
    expect(text).not.toMatch(/token|127\.0\.0\.1|localhost|\/(tmp|home|root|work|Users)\//)
  })
})
