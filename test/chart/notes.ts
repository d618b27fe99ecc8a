import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, runProgram } from '../clients/run-program.ts'
import { programs } from './chart.ts'

/** A shell in which the commands of the chart's notes run. */
export interface NotesShell extends Disposable {
  type(command: string): Promise<Ended>
}

/** @returns the commands in the notes of the chart, in order, each with its here-document if it has one */
export function commandsOfNotes(notes: string): readonly string[] {
  const typed = notes.split('\n').flatMap((line) => /^ {5}(.*)$/.exec(line)?.[1] ?? [])
  return [...typed.join('\n').matchAll(/^.*<<'END'\n[\s\S]*?\nEND$|^.+$(?:(?<=\\)\n.+$)*/gm)].map(([command]) => command)
}

/**
 * @param tranche file that Node.js runs as the command line
 * @param kubeconfig of the user who runs the commands
 */
export function openNotesShell(tranche: string, kubeconfig: string): NotesShell {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-notes-'))
  symlinkSync(programs!.helm, join(folder, 'helm'))
  symlinkSync(programs!.kubectl, join(folder, 'kubectl'))
  writeFileSync(join(folder, 'tranche'), `#!/bin/sh\nexec '${process.execPath}' '${tranche}' "$@"\n`)
  chmodSync(join(folder, 'tranche'), 0o755)
  const env = { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: kubeconfig, HOME: folder }
  return {
    type: (command) => runProgram('bash', ['-c', command], { env }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
