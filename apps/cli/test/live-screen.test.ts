import { createLiveScreen } from '@tranche/cli'
import { describe, expect, it } from 'vitest'
import { terminal } from './fake-terminal.ts'

describe('createLiveScreen', () => {
  it('writes only the lines that differ', () => {
    const { stream, written } = terminal()
    const screen = createLiveScreen(stream)
    screen.draw(() => ['one', 'two', 'three'])
    written.length = 0
    screen.draw(() => ['one', 'TWO', 'three'])
    expect(written.join('')).toContain('TWO')
    expect(written.join('')).not.toMatch(/one|three/)
  })

  it('writes nothing when nothing differs', () => {
    const { stream, written } = terminal()
    const screen = createLiveScreen(stream)
    screen.draw(() => ['one'])
    written.length = 0
    screen.draw(() => ['one'])
    expect(written).toEqual([])
  })

  it.each([
    {
      name: 'replaces lines',
      frames: [
        ['a', 'b', 'c'],
        ['a', 'B', 'c'],
      ],
      shows: ['a', 'B', 'c'],
    },
    { name: 'shortens the block', frames: [['a', 'b', 'c'], ['a']], shows: ['a'] },
    { name: 'lengthens the block', frames: [['a'], ['a', 'b', 'c']], shows: ['a', 'b', 'c'] },
    { name: 'shortens a line', frames: [['a long line'], ['short']], shows: ['short'] },
  ])('$name', ({ frames, shows }) => {
    const { stream, shown } = terminal()
    const screen = createLiveScreen(stream)
    for (const frame of frames) screen.draw(() => frame)
    expect(shown()).toEqual(shows)
  })

  it('prints text above the block and keeps the block', () => {
    const { stream, shown } = terminal()
    const screen = createLiveScreen(stream)
    screen.draw(() => ['bar', 'map'])
    screen.print('something happened')
    screen.draw(() => ['BAR', 'map'])
    expect(shown()).toEqual(['something happened', 'BAR', 'map'])
  })

  it('rewrites everything after a resize of the terminal', () => {
    const { stream, shown, resize } = terminal()
    const screen = createLiveScreen(stream)
    screen.print('something happened')
    screen.draw(() => ['123456'.slice(0, stream.columns), 'b'])
    resize(4)
    expect(shown()).toEqual(['something happened', '1234', 'b'])
    screen.draw(() => ['4321', 'b'])
    expect(shown()).toEqual(['something happened', '4321', 'b'])
  })

  it('hides the cursor while it is open, and restores it', () => {
    const { stream, written } = terminal()
    const screen = createLiveScreen(stream)
    screen.draw(() => ['a'])
    screen.close()
    screen.draw(() => ['b'])
    expect(written[0]).toContain('\u001b[?25l')
    expect(written.at(-1)).toContain('\u001b[?25h')
  })
})
