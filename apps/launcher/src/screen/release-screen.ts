import { type CommandIo, createLiveScreen, wantsColors, wantsUnicode } from '@tranche/cli'
import { plainLines } from './plain-lines.ts'
import { type WaitSeen, waitingLine } from './waiting-line.ts'
import type { ReleaseSnapshot } from './release-snapshot.ts'
import { renderReleaseView } from './render-release-view.ts'

/** Shows a release: a live view on a terminal, one line per change elsewhere. */
export interface ReleaseScreen {
  /** Shows the latest snapshot; null while there is no DaemonSet. */
  show(snapshot: ReleaseSnapshot | null): void
  /** Prints text above the view. */
  say(text: string): void
  close(): void
}

/** @param colors false disables colours (`--no-color`) */
export function createReleaseScreen(io: CommandIo, colors: boolean): ReleaseScreen {
  return io.err.isTTY === true && io.env['TERM'] !== 'dumb' ? createLiveView(io, colors) : createPlainView(io)
}

const NOTHING_TO_SHOW = ['no DaemonSet yet; create one with kubectl apply -f examples/']
const MOST_COLUMNS = 160

function createLiveView(io: CommandIo, colors: boolean): ReleaseScreen {
  const screen = createLiveScreen(io.err)
  const look = { colors: wantsColors(io.err, io.env, colors), unicode: wantsUnicode(io.env) }
  return {
    show: (snapshot) =>
      screen.draw(() => (snapshot === null ? NOTHING_TO_SHOW : ['', ...renderReleaseView(snapshot, { ...sizeOf(io), ...look })])),
    say: (text) => screen.print(text),
    close: () => screen.close(),
  }
}

function sizeOf({ err }: CommandIo): { readonly width: number; readonly height: number } {
  return { width: Math.min(MOST_COLUMNS, err.columns ?? 80), height: Math.max(4, (err.rows ?? 24) - 2) }
}

function createPlainView(io: CommandIo): ReleaseScreen {
  let printed: ReleaseSnapshot | null = null
  let waitSeen: WaitSeen | null = null
  return {
    show(snapshot) {
      if (snapshot === null) return
      const before = printed?.daemonSet === snapshot.daemonSet ? printed : null
      const changes = plainLines(before, snapshot)
      if (changes.length > 0) printed = snapshot
      const { seen, line } = waitingLine(before === null ? null : waitSeen, snapshot)
      waitSeen = seen
      const lines = [...changes, ...(line === null ? [] : [line])]
      if (lines.length > 0) io.err.write(`${lines.join('\n')}\n`)
    },
    say: (text) => void io.err.write(`${text}\n`),
    close: () => {},
  }
}
