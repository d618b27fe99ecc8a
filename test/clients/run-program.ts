import { spawn } from 'node:child_process'

/** What a program said, and how it ended. */
export interface Ended {
  /** Undefined where it was ended by a signal. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** How a program is run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What it reads. */
  readonly input?: string
  /** Called with all it has said so far; a program that is to go on until then is ended once this holds. */
  readonly until?: (stdout: string) => boolean
}

/**
 * Runs a program to its end.
 *
 * @throws {Error} ENOENT, where there is no such program
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
    child.stdin.on('error', () => undefined) // one that reads nothing may be gone
    child.stdin.end(input)
  })
}

/** @returns whether a program can be run at all */
export async function isInstalled(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await runProgram(program, args)
    return true
  } catch {
    return false
  }
}
