import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CommandIo } from '@tranche/cli'

/**
 * Opens a URL in the default browser of the desktop, without a shell.
 *
 * @returns whether a browser was started; false without a display, or without a program that opens URLs
 */
export async function openBrowser(url: string, env: CommandIo['env'], platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const command = openerOf(platform, env)
  if (command === null) return false
  const [program, ...args] = command
  const child = spawn(program, [...args, url], { env: { ...env }, stdio: 'ignore', detached: true, shell: false })
  child.unref()
  try {
    await once(child, 'spawn')
    return true
  } catch {
    return false
  }
}

function openerOf(platform: NodeJS.Platform, env: CommandIo['env']): readonly [string, ...string[]] | null {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  const hasDisplay = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((display) => (display ?? '') !== '')
  return hasDisplay ? ['xdg-open'] : null
}
