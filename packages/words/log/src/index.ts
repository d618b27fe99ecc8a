export { silentLogger, type LogFields, type Logger } from './logger.ts'
