import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { hanging } from '../src/output/say-lines.ts'
import { createDrawing } from '../src/view/reports/drawing.ts'
import { explanationView } from '../src/view/reports/explanation-view.ts'
import { tableLines } from '../src/view/reports/table.ts'
import { wrapText } from '../src/view/wrap-text.ts'
import { printable } from '../src/view/printable.ts'
import { createLinePainter, displayWidth, padToWidth, shorten } from '../src/view/styled-line.ts'

/** Texts with their width in terminal columns, and with their longest beginning of at most four columns before a mark of the cut. */
const texts = {
  'plain letters': { text: 'node-1', columns: 6, cut: 'node…' },
  'wide characters': { text: '東京節点', columns: 8, cut: '東京…' },
  'wide characters at an odd edge': { text: 'a東京節', columns: 7, cut: 'a東…' },
  'a combining mark': { text: 'cafe\u0301-1', columns: 6, cut: 'cafe\u0301…' },
  emoji: { text: '🚀🚀🚀', columns: 6, cut: '🚀🚀…' },
  'emoji of several code points': { text: '👍🏽🇨🇭1️⃣', columns: 6, cut: '👍🏽🇨🇭…' },
  'Hangul syllables': { text: '한국어', columns: 6, cut: '한국…' },
  'half-width letters': { text: 'ｱｲｳｴｵｶ', columns: 6, cut: 'ｱｲｳｴ…' },
  'a control sequence, whose characters become spaces': { text: '\u001b[31mred', columns: 8, cut: ' [31…' },
  'a joined emoji, whose joiners become spaces': { text: '👨\u200d👩', columns: 5, cut: '👨 …' },
}

const drawing = createDrawing({ width: 40, colors: false, unicode: true, nowMs: 0 })

it('the width of every character is that of string-width, alone and beside a letter', () => {
  const characters = Array.from({ length: 0x30_00 - 0x20 }, (_, at) => String.fromCodePoint(0x20 + at)).filter(
    (one) => printable(one) === one,
  )
  const differing = characters.flatMap((one) => [one, `a${one}`, `${one}a`]).filter((text) => displayWidth(text) !== stringWidth(text))
  expect(differing).toEqual([])
})

describe.each(Object.entries(texts))('%s', (_what, { text, columns, cut }) => {
  it('count in columns', () => {
    expect(displayWidth(text)).toBe(columns)
    expect(padToWidth(text, 10)).toHaveLength(padToWidth(text, 0).length + 10 - columns)
  })

  it('are cut between characters', () => {
    expect(shorten(text, 5)).toBe(columns <= 5 ? '👨 👩' : cut)
    expect(shorten(text, columns)).toBe(padToWidth(text, 0))
    expect(displayWidth(createLinePainter(9, false).line('four', text, 'more'))).toBeLessThanOrEqual(9)
  })

  it('leave the next column of a table where it is', () => {
    const lines = tableLines(
      [text, 'agent'],
      [
        { heading: 'NAME', cell: (name) => name },
        { heading: 'STATE', cell: () => 'ok' },
      ],
      drawing,
    )
    expect(lines.map((line) => displayWidth(line.slice(0, line.search(/(STATE|ok)$/))))).toEqual(lines.map(() => Math.max(columns, 5) + 2))
  })

  it('leave the values of an explanation where they are', () => {
    const facts = [text, 'fact'].map((name) => ({ name, value: 'value' }))
    const lines = explanationView({ subject: 'node', answer: 'Yes.', rule: 'value', facts } as never, drawing).slice(2)
    expect(lines.map((line) => displayWidth(line.slice(0, line.search(/value$/))))).toEqual(lines.map(() => Math.max(columns, 4) + 4))
  })

  it('are wrapped within the width', () => {
    const sentence = Array.from({ length: 9 }, () => text).join(' ')
    for (const rows of [wrapText(sentence, 20), hanging(padToWidth(sentence, 0), 20).split('\n')]) {
      expect(rows.length).toBeGreaterThan(2)
      for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(20)
      // One more word does not fit.
      expect(displayWidth(rows[0]!) + 1 + columns).toBeGreaterThan(20)
      const words = (line: string): readonly string[] => line.trim().split(/ +/)
      expect(rows.flatMap(words)).toEqual(words(padToWidth(sentence, 0)).map((word) => word.normalize()))
    }
  })
})

it('closes a colour at the end of a row and opens it in the next', () => {
  expect(hanging('\u001b[31mtwelve letters and more\u001b[39m', 20)).toBe(
    '\u001b[31mtwelve letters and\u001b[39m\n  \u001b[31mmore\u001b[39m',
  )
})
