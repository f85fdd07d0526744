#!/usr/bin/env node
// Written for any Node that can read it: finds the Node and the program to use, and hands over.
'use strict';
var fs = require('fs');
var path = require('path');

var neededMajor = 24;
var root = path.join(__dirname, '..');
var args = process.argv.slice(2);

function versionText() {
  return JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version;
}

/** The Node that the repository brings along; people who install the package do not have it. */
function bundledNode() {
  if (!fs.existsSync(path.join(root, 'runtime', 'package.json'))) return undefined;
  var file = path.join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return fs.existsSync(file) ? file : undefined;
}

function runOn(node) {
  var child = require('child_process').spawn(node, [__filename].concat(args), { stdio: 'inherit' });
  var forward = function (signal) {
    child.kill(signal);
  };
  // Ctrl-C reaches the child by itself; this process only stays until it is done.
  process.on('SIGINT', function () {});
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  child.on('exit', function (code, signal) {
    if (signal === null) process.exit(code === null ? 1 : code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function refuse() {
  process.stderr.write(
    'Parlane needs Node ' + neededMajor + ' or newer, and this is Node ' + process.versions.node + '. ' +
      'Install a newer one from https://nodejs.org or with your version manager (for example: nvm install ' +
      neededMajor + ').\n'
  );
  process.exit(2);
}

/** Hidden from old parsers, which do not know the syntax. */
var load = new Function('file', 'return import(file)');

function start() {
  var warn = process.emitWarning;
  // The built-in SQLite is marked experimental in some versions; a warning at every start helps nobody.
  process.emitWarning = function (warning, kind) {
    var name = typeof kind === 'object' && kind !== null ? kind.type : kind;
    if (name !== 'ExperimentalWarning') warn.apply(process, arguments);
  };
  var built = path.join(root, 'dist', 'cli', 'main.js');
  var file = fs.existsSync(built) ? built : path.join(root, 'src', 'cli', 'main.ts');
  load(require('url').pathToFileURL(file).href)
    .then(function (program) {
      return program.main(args);
    })
    .catch(function (error) {
      process.stderr.write(String((error && error.stack) || error) + '\n');
      process.exit(1);
    });
}

function begin() {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    process.stdout.write(versionText() + '\n');
    return;
  }
  if (parseInt(process.versions.node, 10) >= neededMajor) {
    start();
    return;
  }
  var node = bundledNode();
  if (node === undefined) refuse();
  else runOn(node);
}

begin();
