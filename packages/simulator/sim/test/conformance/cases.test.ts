import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Files of the cases: single passes, and whole clusters. */
const folders = ['../../../sim-controllers/test/', './', '../'].map((path) => new URL(path, import.meta.url))

/** Cases are numbered as in upstream's test files, read from placement to status; tests bear the number at the head of their name. */
const CASES = 106

describe('the cases of the DaemonSet controller', () => {
  it(`are complete, 1 to ${CASES}`, () => {
    const found = new Set(folders.flatMap(testFiles).flatMap(numbersIn))
    const all = Array.from({ length: CASES }, (_, at) => at + 1)
    expect(all.filter((number) => !found.has(number))).toEqual([])
    expect([...found].filter((number) => !all.includes(number))).toEqual([])
  })
})

function testFiles(folder: URL): readonly URL[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  return names.map((name) => new URL(name, folder))
}

/** @returns the numbers at the head of names: `'12 deals with …'`, `'24, 25 follows …'` */
function numbersIn(file: URL): readonly number[] {
  const heads = readFileSync(file, 'utf8').matchAll(/(?:it|describe|\)|name:|\[)\s*\(?\s*['"`](\d+(?:, \d+)*) [A-Za-z%$]/g)
  return [...heads].flatMap(([, numbers = '']) => numbers.split(', ').map(Number))
}
