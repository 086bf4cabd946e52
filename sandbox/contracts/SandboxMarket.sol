// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function mint(address to, uint256 amount) external;
    function deposit() external payable;
}

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
}

interface IV3Pool {
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

interface IV2Pair {
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 amount0, uint256 amount1, address to, bytes calldata data) external;
}

interface ISlipstream {
    function set(uint160 sqrtPriceX96, int24 tick) external;
}

/// What the chain's oracles answer, and who moves its pools: one transaction of
/// the mover's tells the oracles their prices and swaps in every pool until it
/// shows them too. Tokens that it lacks for that it mints, as anybody can here.
contract SandboxMarket {
    enum Mode { Ok, Stale, Zero, Negative, Revert, Tenfold, Down }
    enum Kind { V3, V2, Slipstream }

    struct Price {
        int192 answer; // US dollars, 8 decimals
        uint64 round;
    }

    struct State {
        Mode mode;
        uint64 age; // seconds, of Stale
        uint64 since; // Unix seconds; 0 = as long as the market is there
    }

    struct Target {
        Kind kind;
        address pool;
        uint160 sqrtPriceX96; // of token0 in token1
        int24 tick;
    }

    address public immutable mover;
    address private immutable wrapped;
    uint256 private immutable born;

    mapping(bytes32 => Price) private prices; // by symbol
    mapping(address => State) public states; // by oracle
    address private paying; // the pool that may ask to be paid now

    constructor(address mover_, address wrapped_, bytes32[] memory keys, int192[] memory answers) {
        (mover, wrapped, born) = (mover_, wrapped_, block.timestamp - 30 days);
        _tell(keys, answers);
    }

    receive() external payable {}

    /// Prices are by symbol; targets are where pools are to stand afterwards.
    function move(bytes32[] calldata keys, int192[] calldata answers, Target[] calldata targets) external {
        require(msg.sender == mover, "SandboxMarket: not the mover");
        _tell(keys, answers);
        for (uint256 i = 0; i < targets.length; i++) {
            Target calldata t = targets[i];
            paying = t.pool;
            if (t.kind == Kind.V3) _moveV3(t.pool, t.sqrtPriceX96);
            else if (t.kind == Kind.V2) _moveV2(t.pool, t.sqrtPriceX96);
            else ISlipstream(t.pool).set(t.sqrtPriceX96, t.tick);
        }
        paying = address(0);
    }

    /// What oracles do from now on. `age` is how old a stale answer is; for all
    /// other modes, how long ago it came to be so.
    function set(address[] calldata oracles, Mode mode, uint64 age) external {
        require(msg.sender == mover, "SandboxMarket: not the mover");
        for (uint256 i = 0; i < oracles.length; i++) {
            states[oracles[i]] = mode == Mode.Stale
                ? State(mode, age, uint64(block.timestamp))
                : State(mode, 0, uint64(block.timestamp) - age);
        }
    }

    /// A price as the asking oracle is to tell it. There is always one of this
    /// very second, unless the oracle is stale: nobody has to keep it fresh.
    function read(bytes32 key) external view returns (uint80 round, int256 answer, uint256 updatedAt) {
        Price memory p = prices[key];
        round = uint80((1 << 64) + p.round);
        answer = bend(p.answer);
        updatedAt = block.timestamp - states[msg.sender].age;
    }

    /// An answer in the asking oracle's mode.
    function bend(int256 answer) public view returns (int256) {
        Mode mode = states[msg.sender].mode;
        require(mode != Mode.Revert, "the sandbox has this oracle revert");
        if (mode == Mode.Zero) return 0;
        if (mode == Mode.Negative) return -answer;
        if (mode == Mode.Tenfold) return 10 * answer;
        return answer;
    }

    /// Whether the asking feed is to say that the sequencer is down, and since when
    /// it is as it is.
    function sequencer() external view returns (bool down, uint256 since) {
        State memory s = states[msg.sender];
        require(s.mode != Mode.Revert, "the sandbox has this oracle revert");
        return (s.mode == Mode.Down, s.since == 0 ? born : s.since);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        require(msg.sender == paying, "SandboxMarket: not now");
        if (amount0 > 0) _pay(IPool(msg.sender).token0(), uint256(amount0));
        if (amount1 > 0) _pay(IPool(msg.sender).token1(), uint256(amount1));
    }

    function _tell(bytes32[] memory keys, int192[] memory answers) private {
        for (uint256 i = 0; i < keys.length; i++) {
            prices[keys[i]] = Price(answers[i], prices[keys[i]].round + 1);
        }
    }

    function _moveV3(address pool, uint160 target) private {
        // The price is the first of slot0's words.
        (bool ok, bytes memory slot0) = pool.staticcall(abi.encodeWithSignature("slot0()"));
        require(ok, "SandboxMarket: no pool");
        uint160 now_ = abi.decode(slot0, (uint160));
        if (now_ == target) return;
        IV3Pool(pool).swap(address(this), target < now_, type(int256).max, target, "");
    }

    function _moveV2(address pair, uint160 target) private {
        (uint256 r0, uint256 r1,) = IV2Pair(pair).getReserves();
        uint256 root = _sqrt(r0 * r1);
        uint256 want0 = (root << 96) / target;
        bool zeroForOne = want0 > r0;
        (uint256 rIn, uint256 rOut) = zeroForOne ? (r0, r1) : (r1, r0);
        uint256 want = zeroForOne ? want0 : (root * target) >> 96;
        if (want <= rIn + rIn / 1e9) return;
        // So much that the reserves, with the fee of 0.3 % among them, are in the
        // ratio that is wanted.
        uint256 fixed_ = 1997 * rIn;
        uint256 amount = (_sqrt(fixed_ * fixed_ + 3_988_000 * (want * want - rIn * rIn)) - fixed_) / 1994;
        uint256 got = (amount * 997 * rOut) / (rIn * 1000 + amount * 997);
        if (got == 0) return;
        _pay(zeroForOne ? IPool(pair).token0() : IPool(pair).token1(), amount);
        IV2Pair(pair).swap(zeroForOne ? 0 : got, zeroForOne ? got : 0, address(this), "");
    }

    /// Pays the pool that is being moved.
    function _pay(address token, uint256 amount) private {
        uint256 held = IToken(token).balanceOf(address(this));
        if (held < amount) {
            if (token == wrapped) IToken(token).deposit{value: amount - held}();
            else IToken(token).mint(address(this), amount - held);
        }
        // Tokens of mainnet USDT's kind return nothing.
        (bool ok, bytes memory result) = token.call(abi.encodeWithSignature("transfer(address,uint256)", paying, amount));
        require(ok && (result.length == 0 || abi.decode(result, (bool))), "SandboxMarket: the token refused");
    }

    function _sqrt(uint256 x) private pure returns (uint256 y) {
        if (x == 0) return 0;
        y = 1 << ((_bits(x) + 1) / 2);
        for (uint256 next = (y + x / y) / 2; next < y; next = (y + x / y) / 2) y = next;
    }

    function _bits(uint256 x) private pure returns (uint256 n) {
        for (uint256 step = 128; step > 0; step /= 2) {
            if (x >> step != 0) (x, n) = (x >> step, n + step);
        }
        return n + 1;
    }
}
