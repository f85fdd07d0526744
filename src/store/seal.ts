/**
 * Job: notice when the bytes on disk are not the bytes that were written.
 * Not its job: repairing; checking single rows (their checksums do that).
 *
 * A small file beside the store holds (1) the number of the newest commit known to be on disk, written after each durable
 * commit, and (2) size and checksum of the whole store, written when the last user closes it.
 *
 * Invariants: 1. The commit number in the seal is never ahead of what was synced to disk, so a store that knows fewer
 * commits has lost some (a damaged write-ahead log loses them silently). 2. Size and checksum count only while no
 * write-ahead log lies beside the store: whoever writes leaves a log behind until he closes in order.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { damaged } from './store-errors.ts';

/** Beyond this size a whole-file check at every opening would be felt. */
const largestChecked = 512 * 1024 * 1024;
const length = 32;

export interface Seal {
  /** Newest commit known to be on disk. */
  readonly seq: number;
  /** Set by an orderly close. */
  readonly file?: { readonly size: number; readonly crc: number };
}

const sealPath = (file: string): string => `${file}-seal`;

/** A seal file is one fixed block: commit number, size, checksum, whether closed, and a checksum of its own per half. */
function encode(seal: Seal): Buffer {
  const block = Buffer.alloc(length);
  block.writeDoubleLE(seal.seq, 0);
  block.writeUInt32LE(crc32(block.subarray(0, 8)), 8);
  block.writeDoubleLE(seal.file?.size ?? -1, 12);
  block.writeUInt32LE(seal.file?.crc ?? 0, 20);
  block.writeUInt32LE(crc32(block.subarray(12, 24)), 24);
  return block;
}

function decode(block: Buffer, file: string): Seal {
  const seq = block.readDoubleLE(0);
  const size = block.readDoubleLE(12);
  if (
    block.readUInt32LE(8) !== crc32(block.subarray(0, 8)) ||
    block.readUInt32LE(24) !== crc32(block.subarray(12, 24))
  ) {
    throw damaged(file, 'its seal file does not add up');
  }
  return size < 0 ? { seq } : { seq, file: { size, crc: block.readUInt32LE(20) } };
}

function readBlock(path: string, file: string): Buffer | undefined {
  if (!existsSync(path)) return undefined;
  const handle = openSync(path, 'r');
  try {
    const block = Buffer.alloc(length);
    if (readSync(handle, block, 0, length, 0) !== length) throw damaged(file, 'its seal file is cut off');
    return block;
  } finally {
    closeSync(handle);
  }
}

/** Size and checksum of a file, read in pieces; undefined when it is too large to be checked at every opening. */
export function fingerprint(file: string): { size: number; crc: number } | undefined {
  const handle = openSync(file, 'r');
  try {
    const size = fstatSync(handle).size;
    if (size > largestChecked) return undefined;
    const piece = Buffer.alloc(1024 * 1024);
    let crc = 0;
    for (let at = 0; ; ) {
      const read = readSync(handle, piece, 0, piece.length, at);
      if (read === 0) return { size, crc };
      crc = crc32(piece.subarray(0, read), crc);
      at += read;
    }
  } finally {
    closeSync(handle);
  }
}

/** What the seal says; refuses a closed store whose bytes have changed. Must run before SQLite opens the file. */
export function checkSeal(file: string): Seal | undefined {
  const block = readBlock(sealPath(file), file);
  if (block === undefined) return undefined;
  const seal = decode(block, file);
  if (seal.file === undefined || existsSync(`${file}-wal`)) return { seq: seal.seq };
  const now = fingerprint(file);
  if (now !== undefined && (now.size !== seal.file.size || now.crc !== seal.file.crc)) {
    throw damaged(file, 'its bytes have changed since it was closed');
  }
  return seal;
}

/** Keeps the seal of an open store. */
export class SealWriter {
  readonly #file: string;
  #handle: number | undefined;

  constructor(file: string) {
    this.#file = file;
    const path = sealPath(file);
    if (!existsSync(path)) {
      // Whole or not at all: a process may be killed between making a file and filling it.
      const draft = `${path}.${process.pid}`;
      writeFileSync(draft, encode({ seq: 0 }), { mode: 0o600 });
      renameSync(draft, path);
    }
    this.#handle = openSync(path, 'r+');
  }

  /** Notes that everything up to this commit is on disk. */
  note(seq: number): void {
    if (this.#handle === undefined) return;
    writeSync(this.#handle, encode({ seq }), 0, length, 0);
  }

  /** After the database was closed: seals it when nobody else has it open. */
  close(seq: number): void {
    if (this.#handle === undefined) return;
    const file = existsSync(`${this.#file}-wal`) ? undefined : fingerprint(this.#file);
    writeSync(this.#handle, encode(file === undefined ? { seq } : { seq, file }), 0, length, 0);
    closeSync(this.#handle);
    this.#handle = undefined;
  }
}
