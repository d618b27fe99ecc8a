import { spawn } from 'node:child_process'

/** Output and exit code of a program. */
export interface Ended {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Options of a run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Standard input. */
  readonly input?: string
  /** Called with all output so far; the program is ended once it returns true. */
  readonly until?: (stdout: string) => boolean
}

/**
 * Runs a program to its end.
 *
 * @throws {Error} ENOENT if the program does not exist
 */
export function runProgram(program: string, args: readonly string[], { env, cwd, input = '', until }: RunOptions = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env } })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk)
      if (until?.(stdout) === true) child.kill()
    })
    child.stderr.on('data', (chunk) => (stderr += String(chunk)))
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? undefined, stdout, stderr }))
    child.stdin.on('error', () => undefined) // the program may have ended without reading
    child.stdin.end(input)
  })
}

/** @returns whether the program can be run */
export async function isInstalled(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await runProgram(program, args)
    return true
  } catch {
    return false
  }
}
