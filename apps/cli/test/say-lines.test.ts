import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { hanging, sayLines } from '../src/output/say-lines.ts'
import { createDrawing } from '../src/view/reports/drawing.ts'
import { progressLine } from '../src/view/reports/progress-line.ts'
import { failing, goingBack, NOW_MS } from './release-pictures.ts'

it.each([60, 80, 120])('breaks a sentence between words, with colours too, on a terminal of %d columns', (width) => {
  for (const { report } of [failing, goingBack]) {
    const line = progressLine(report, createDrawing({ width: Infinity, colors: true, unicode: true, nowMs: NOW_MS }))
    const rows = stripVTControlCharacters(hanging(line, width)).split('\n')
    expect(rows.length).toBeGreaterThan(1)
    expect(Math.max(...rows.map((row) => Array.from(row).length))).toBeLessThanOrEqual(width)
    expect(rows.slice(1).every((row) => /^ {2}\S/.test(row))).toBe(true)
    const words = (text: string): readonly string[] => text.split(/\s+/)
    expect(words(rows.join(' '))).toEqual(words(stripVTControlCharacters(line)))
  }
})

it.each([
  { title: 'a line that fits', text: 'a  b c', width: 20, want: 'a  b c' },
  {
    title: 'a word that does not fit on a line of its own',
    text: `see ${'x'.repeat(30)} there`,
    width: 20,
    want: `see\n  ${'x'.repeat(30)}\n  there`,
  },
  {
    title: 'lines that are indented further in',
    text: '    fix: write twelve letters',
    width: 20,
    want: '    fix: write\n      twelve letters',
  },
  {
    title: 'the fix of a lint finding, whose continuation is indented further in',
    text: `${' '.repeat(11)}fix: write twelve letters`,
    width: 30,
    want: `${' '.repeat(11)}fix: write twelve\n${' '.repeat(13)}letters`,
  },
  { title: 'each line by itself', text: 'one\n\ntwo', width: 20, want: 'one\n\ntwo' },
  { title: 'nothing on a terminal that is too narrow', text: 'one two three four', width: 10, want: 'one two three four' },
])('breaks $title', ({ text, width, want }) => {
  expect(hanging(text, width)).toBe(want)
})

it('counts the codes of a colour as no columns', () => {
  expect(hanging('\u001b[31mtwelve letters\u001b[39m and', 20)).toBe('\u001b[31mtwelve letters\u001b[39m and')
})

it.each([
  { isTTY: false, columns: 20, want: 'twelve letters and more\n' },
  { isTTY: undefined, columns: undefined, want: 'twelve letters and more\n' },
  { isTTY: true, columns: 20, want: 'twelve letters and\n  more\n' },
])('writes to a terminal or a pipe: %j', ({ isTTY, columns, want }) => {
  let written = ''
  sayLines({ write: (text) => (written += text), isTTY, columns }, 'twelve letters and more')
  expect(written).toBe(want)
})
