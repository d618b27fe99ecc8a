import { collect } from '@tranche/cli'
import type { Command } from 'commander'

/** Adds `--allow-host`, for the commands that run a controller. */
export function withAllowHost(command: Command): Command {
  const hint = 'host that policies may query for metrics or notify: NAME, *.DOMAIN or address, optionally with :PORT; repeatable'
  return command.option('--allow-host <host>', hint, collect)
}
