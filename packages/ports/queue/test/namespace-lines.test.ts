import { createNamespaceLines, type NamespaceLines } from '@tranche/queue'
import { describe, expect, it } from 'vitest'

describe('lines of namespaces', () => {
  it('take turns, however many keys one has', () => {
    const lines = filled(createNamespaceLines(), ['a/1', 'a/2', 'a/3', 'b/1', 'c/1', 'b/2'])
    expect(allOf(lines)).toEqual(['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'])
  })

  it('keep the first of two equal keys', () => {
    const lines = createNamespaceLines<number>()
    lines.add('a/1', 1)
    lines.add('a/1', 2)
    expect([lines.size, lines.has('a/1'), lines.takeNext(), lines.size, lines.has('a/1')]).toEqual([
      1,
      true,
      { key: 'a/1', value: 1 },
      0,
      false,
    ])
  })

  it('have some keys of one namespace taken at most, until it returns one', () => {
    const lines = filled(createNamespaceLines(2), ['a/1', 'a/2', 'a/3', 'b/1'])
    expect([...allOf(lines), lines.size]).toEqual(['a/1', 'b/1', 'a/2', 1])
    lines.leave('b/1')
    expect(lines.takeNext()).toBeNull()
    lines.leave('a/2')
    expect(lines.takeNext()?.key).toBe('a/3')
  })

  it('make room by the last key of the longest line, but not for a line that would be as long', () => {
    const lines = filled(createNamespaceLines(), ['a/1', 'a/2', 'a/3', 'b/1'])
    expect([lines.makeRoom('a/4'), lines.makeRoom('c/1'), lines.makeRoom('b/2'), lines.size]).toEqual([false, true, false, 3])
    expect(allOf(lines)).toEqual(['a/1', 'b/1', 'a/2'])
  })

  it('are empty after they are cleared', () => {
    const lines = filled(createNamespaceLines(), ['a/1', 'b/1'])
    lines.clear()
    expect([lines.size, lines.takeNext()]).toEqual([0, null])
  })
})

function filled(lines: NamespaceLines<string>, keys: readonly string[]): NamespaceLines<string> {
  for (const key of keys) lines.add(key, key)
  return lines
}

function allOf(lines: NamespaceLines<string>): readonly string[] {
  const keys: string[] = []
  for (let next = lines.takeNext(); next !== null; next = lines.takeNext()) keys.push(next.key)
  return keys
}
