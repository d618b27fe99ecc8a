/** Programs that tests need and that a bare machine lacks: found on the PATH, or installed from Debian's packages. */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** Path of a program, or why there is none. */
export type FoundProgram = { readonly program: string } | { readonly missing: string }

/** The machine on which {@link findProgram} looks. Every default is the actual one. */
export interface Machine {
  /** Folders with programs. */
  readonly path?: string
  readonly isRoot?: boolean
  /** Debian runs this file to decide whether a service may be started; exit code 101 forbids it. @default /usr/sbin/policy-rc.d */
  readonly policy?: string
}

/**
 * Finds a program on the PATH. If it is missing, installs Debian's package of the same name if apt-get is available and permitted. A service
 * of the package is not started. Several processes may call this at the same time: one installs, the others wait for it.
 */
export async function findProgram(
  name: string,
  { path = process.env['PATH'] ?? '', isRoot = process.getuid?.() === 0, policy = '/usr/sbin/policy-rc.d' }: Machine = {},
): Promise<FoundProgram> {
  const program = programOnPath(name, path)
  if (program !== null) return { program }
  if (programOnPath('apt-get', path) === null) return { missing: `${name} is not installed and there is no apt-get` }
  if (!isRoot) return { missing: `${name} is not installed, and only root may install it` }
  try {
    const env = { ...process.env, PATH: path, POLICY: policy, PROGRAM: name, DEBIAN_FRONTEND: 'noninteractive' }
    // The lock is that of the folder, so that it leaves no file behind; the kernel releases it when the process ends.
    await promisify(execFile)('flock', ['--timeout', '300', '--close', dirname(policy), 'sh', '-c', installation], { env })
  } catch (error) {
    return { missing: `${name} is not installed, and apt-get could not: ${lastLine(error)}` }
  }
  const installed = programOnPath(name, path)
  return installed === null ? { missing: `the package ${name} brought no ${name}` } : { program: installed }
}

/** Does nothing if another process has installed it in the meantime. Removes only a policy that it wrote, also when it is interrupted. */
const installation = `
command -v "$PROGRAM" >/dev/null && exit 0
if [ ! -e "$POLICY" ]; then
  trap 'exit 1' HUP INT TERM
  trap 'rm -f "$POLICY"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$POLICY"
  chmod 755 "$POLICY"
fi
apt() { apt-get -o DPkg::Lock::Timeout=120 "$@"; }
install() { apt install -y -q --no-install-recommends "$PROGRAM"; }
install || { apt update -q && install; }
`

function programOnPath(name: string, path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const program = join(folder, name)
    try {
      accessSync(program, constants.X_OK)
      return program
    } catch {}
  }
  return null
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}
