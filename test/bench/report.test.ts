import { describe, expect, it } from 'vitest'
import { drawPicture } from '../../scripts/bench/report/picture.ts'
import { figure, isKept, medianOf } from '../../scripts/bench/row.ts'
import { benchSets } from '../../scripts/bench/sets.ts'

describe('figures of a row', () => {
  it.each([
    ['the middle value', [3, 1, 2], 2],
    ['the greater of the two in the middle', [4, 1, 2, 3], 3],
  ])('have as median %s', (_what, values, median) => {
    expect(medianOf(values)).toBe(median)
  })

  it('keep a limit by their median', () => {
    expect(isKept({ values: [1, 2, 9], limit: { atMost: 2 } })).toBe(true)
    expect(isKept({ values: [1, 3, 9], limit: { atMost: 2 } })).toBe(false)
    expect(isKept({ values: [1, 3, 9], limit: { atLeast: 4 } })).toBe(false)
  })

  it('are written with as many digits as they deserve', () => {
    expect([1234.5, 12.345, 0.01234, 0].map(figure)).toEqual(['1235', '12.35', '0.0123', '0.00'])
  })
})

describe('a picture', () => {
  const picture = {
    title: 'Memory < all, MB',
    xName: 'pods',
    lines: [{ name: 'executor', points: [30_000, 0, 150_000].map((x) => ({ x, y: x / 1000 + 1 })) }],
  }

  it('draws each point inside its frame, from the smallest x to the greatest', () => {
    const [, points = ''] = /polyline[^>]* points="([^"]*)"/.exec(drawPicture(picture)) ?? []
    const drawn = points.split(' ').map((point) => point.split(',').map(Number))
    expect(drawn).toHaveLength(3)
    expect(drawn.map(([x]) => x)).toEqual(drawn.map(([x]) => x).toSorted((a = 0, b = 0) => a - b))
    for (const [x = 0, y = 0] of drawn) {
      expect(x).toBeGreaterThanOrEqual(64)
      expect(x).toBeLessThanOrEqual(616)
      expect(y).toBeGreaterThanOrEqual(44)
      expect(y).toBeLessThanOrEqual(236)
    }
  })

  it('escapes its texts, and names every size and line', () => {
    const svg = drawPicture(picture)
    expect(svg).toContain('Memory &lt; all, MB')
    for (const text of ['>30,000<', '>150,000<', '>executor<', '>pods<']) expect(svg).toContain(text)
  })
})

it('every set has a name that a command line and a file can have, and says what it measures', () => {
  for (const [name, { about, minutes }] of Object.entries(benchSets)) {
    expect(name).toMatch(/^[a-z-]+$/)
    expect(about).toMatch(/\.$/)
    expect(minutes).toBeGreaterThan(0)
  }
})
